import type { Client } from 'pg';
import { isFresh } from '../../sql/instances.js';
import type { OwnSchema } from './own-schema.js';

/** The addresses of the instances with a heartbeat, of whatever version; the ids of those that do not listen. */
export async function runningInstances(
  client: Client,
  { name }: OwnSchema,
  now: number | null,
): Promise<string[]> {
  const { rows } = await client.query<{ place: string }>(
    `SELECT coalesce(address, id) AS place FROM ${name}.instances CROSS JOIN ${name}.time_1($1::bigint) AS n(now)
     WHERE ${isFresh.replaceAll(':now', 'n.now')} ORDER BY place`,
    [now],
  );
  return rows.map(({ place }) => place);
}
