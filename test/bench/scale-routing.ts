import { query } from '../support/postgres.js';
import { startRouter } from '../support/router.js';
import { recipientOf } from './made-folder.js';
import { inPairs, type Row } from './pairs.js';
import { postRate } from './service-http.js';
import { startService } from './service-process.js';

const sends = 2_000;
const connections = 8;
const pairs = 3;
const text = 'Таны захиалга бэлэн боллоо.';

/** Two projects on two databases, each asked by its own callers at the same time: through a router, and directly. */
export async function routing(...databases: readonly [string, string]): Promise<Row[]> {
  await using one = await startService('off', undefined, { database: databases[0] });
  await using other = await startService('off', undefined, { database: databases[1] });
  const services = [one, other];
  await using router = await startRouter(
    services.map(({ url, key }) => ({ url: new URL(url).origin, keys: [key] })),
  );
  let index = 0;
  const body = () => ({ to: recipientOf(index++), text });
  const rate = async (through: (url: string) => string) => {
    const rates = await Promise.all(
      services.map(({ url, key }) => postRate({ url: through(url), key }, '/sms', sends, connections, body)),
    );
    return Math.min(...rates) * 2;
  };
  const routed = (url: string) => router.url + new URL(url).pathname;
  const { ratio, a, b } = await inPairs(
    () => rate(routed),
    () => rate((url) => url),
    pairs,
  );
  const counts = await Promise.all(
    databases.map((database) =>
      query<{ count: number }>(database, 'SELECT count(*)::int AS count FROM messages'),
    ),
  );
  const expected = sends * 2 * (pairs + 1);
  const strays = counts.reduce((sum, [row]) => sum + Math.abs((row?.count ?? 0) - expected), 0);
  return [
    {
      what: 'two databases behind a router by key',
      against: 'the same two, asked directly',
      goal: 'none in the other database',
      measured: `${ratio.toFixed(2)} (${a.toFixed(0)}/s to ${b.toFixed(0)}/s), ${strays} in the other`,
      met: strays === 0,
    },
  ];
}
