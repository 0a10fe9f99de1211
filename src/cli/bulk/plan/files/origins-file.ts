import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Origin, originsFile } from './plan-format.js';
import { PlanDamaged, readPlanRecord } from './plan-reader.js';

/** The rows that a plan has from other jobs. Throws PlanDamaged. */
export async function readOrigins(folder: string): Promise<Origin[]> {
  const written = (await readPlanRecord(folder)).files[originsFile];
  if (written === undefined) return [];
  const bytes = await readFile(join(folder, originsFile));
  if (createHash('sha256').update(bytes).digest('hex') !== written.sha256)
    throw new PlanDamaged(folder, `${originsFile} is damaged`);
  return bytes
    .toString()
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Origin]));
}
