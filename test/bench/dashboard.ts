// The pages of the dashboard and the lists of the API over 1,000,000 messages, on both engines.
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startOfDay } from '../../src/service/dashboard/parts/format.js';
import { createService } from '../../src/service/index.js';
import { fillPostgres, fillSqlite } from '../support/many-messages.js';
import { findBinaries } from '../support/postgres/binaries.js';
import { durable, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import { testSecret } from '../support/test-engine.js';
import type { Row } from './pairs.js';
import { type RunningService, startService } from './service-process.js';

const messages = Number(process.env.URTUU_BENCH_MESSAGES ?? 1_000_000);
const times = 20;
const agent = new Agent({ keepAlive: true });

interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  /** As they came over the wire. */
  bytes: number;
  milliseconds: number;
}

function ask(url: URL, headers: Record<string, string>, body?: string): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { agent, headers, method: body === undefined ? 'GET' : 'POST' },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const milliseconds = performance.now() - began;
          const all = Buffer.concat(chunks);
          const { statusCode: status = 0, headers } = answer;
          const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(all) : all).toString();
          resolve({ status, headers, text, bytes: all.length, milliseconds });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** A browser that is signed in, and a program with a key. */
async function visitor({ url, key, link }: RunningService) {
  const { origin, searchParams } = new URL(link);
  const form = { origin, 'content-type': 'application/x-www-form-urlencoded' };
  const { headers } = await ask(new URL('/dashboard/sign-in', origin), form, String(searchParams));
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  return {
    page: (path: string) => ask(new URL(`/dashboard${path}`, origin), { cookie, 'accept-encoding': 'gzip' }),
    list: (path: string) => ask(new URL(url + path), { authorization: `Bearer ${key}` }),
  };
}

type Visitor = Awaited<ReturnType<typeof visitor>>;

/** Every filter alone, the rarest pair, and pairs of which there is none. */
const filters = [
  '',
  'to=99112233',
  'to=person7%40example.mn',
  'channel=sms',
  'channel=email',
  'status=queued',
  'status=sent',
  'status=failed',
  'delivery=delivered',
  'delivery=undelivered',
  'delivery=bounced',
  'delivery=unknown',
  'channel=email&delivery=bounced',
  'channel=sms&delivery=bounced',
  'status=failed&delivery=unknown',
];

/** The addresses to measure: of each list the first page, the one behind it, and one far behind. */
async function addresses({ page, list }: Visitor): Promise<{ pages: string[]; lists: string[] }> {
  const next = ({ text }: Answer, path: string) =>
    new RegExp(`href="/dashboard${path}\\?([^"]*)" rel="next"`).exec(text)?.[1]?.replaceAll('&amp;', '&');
  const id = (table: number, row: number) => {
    const hex = (length: number) => row.toString(16).padStart(length, '0');
    return `${hex(8)}-000${table}-7000-8000-${hex(12)}`;
  };
  const middle = `after=${id(0, messages / 2)}`;
  const batch = id(1, Math.floor(messages / 3_000));
  const since = `since=${new Date(startOfDay(Date.now())).toISOString()}`;
  const queries = [
    ...filters,
    since,
    `${since}&status=failed`,
    `batch_id=${batch}`,
    `batch_id=${batch}&status=failed`,
  ];
  const pages = [
    '',
    '/keys',
    '/settings/sending',
    '/settings/email',
    '/settings/prices',
    '/inbox',
    '/outbox',
    '/batches',
  ];
  pages.push('/balance', `/messages/${id(0, messages / 2)}`, `/batches/${batch}`, '/balance?before=5000');
  for (const path of ['/outbox', '/batches', `/batches/${batch}`, '/balance']) {
    const query = next(await page(path), path);
    if (query !== undefined) pages.push(`${path}?${query}`);
  }
  for (const query of queries) {
    const older = next(await page(`/messages?${query}`), '/messages');
    pages.push(
      ...[query, older, `${query}&${middle}`].flatMap((each) =>
        each === undefined ? [] : `/messages?${each}`,
      ),
    );
  }
  const lists = queries.flatMap((query) => [
    `/messages?limit=100&${query}`,
    `/messages?limit=100&${query}&${middle}`,
  ]);
  const [first] = JSON.parse((await list('/messages?limit=1')).text).data;
  if (first === undefined) throw new Error('there are no messages');
  return { pages, lists: lists.map((path) => path.replace(/&(?=&|$)/g, '')) };
}

interface Measured {
  path: string;
  p95: number;
  bytes: number;
}

async function measure(
  paths: readonly string[],
  look: (path: string) => Promise<Answer>,
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const path of paths) {
    const answers: Answer[] = [];
    for (let time = 0; time < times; time += 1) answers.push(await look(path));
    const wrong = answers.find(({ status }) => status !== 200);
    if (wrong !== undefined)
      throw new Error(`${path} is answered by ${wrong.status}: ${wrong.text.slice(0, 500)}`);
    const sorted = answers.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
    const p95 = sorted[Math.ceil(0.95 * times) - 1] ?? 0;
    measured.push({ path, p95, bytes: Math.max(...answers.map(({ bytes }) => bytes)) });
  }
  return measured;
}

const worst = (measured: readonly Measured[], by: 'p95' | 'bytes') =>
  [...measured].sort((one, other) => other[by] - one[by])[0] ?? { path: '', p95: 0, bytes: 0 };

async function rowsOf(engine: string, service: RunningService): Promise<Row[]> {
  const visit = await visitor(service);
  const { pages, lists } = await addresses(visit);
  const shown = await measure(pages, visit.page);
  const listed = await measure(lists, visit.list);
  if (process.env.URTUU_BENCH_EACH !== undefined)
    for (const { path, p95, bytes } of [...shown, ...listed])
      process.stdout.write(`${engine} ${p95.toFixed(1)} ms ${(bytes / 1_000).toFixed(1)} kB ${path}\n`);
  const slow = worst(shown, 'p95');
  const large = worst(shown, 'bytes');
  const late = worst(listed, 'p95');
  const of = `${engine}, ${messages.toLocaleString('en')} messages`;
  const times = (one: Measured) => `at most ${one.p95.toFixed(0)} ms (${one.path || '/'})`;
  return [
    {
      what: `dashboard: ${pages.length} pages and filters, ${of}`,
      against: '',
      goal: 'p95 of each under 50 ms',
      measured: times(slow),
      met: slow.p95 < 50,
    },
    {
      what: `dashboard: the largest page, ${of}`,
      against: '',
      goal: 'under 30 kB on the wire',
      measured: `${(large.bytes / 1_000).toFixed(1)} kB (${large.path || '/'})`,
      met: large.bytes < 30_000,
    },
    {
      what: `GET /v1/messages: ${lists.length} filters, 100 rows, ${of}`,
      against: '',
      goal: 'p95 of each under 50 ms',
      measured: times(late),
      met: late.p95 < 50,
    },
  ];
}

const many = () => {
  const now = Date.now();
  return { messages, now, day: startOfDay(now) };
};

async function sqlite(): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'urtuu-bench-dashboard-'));
  try {
    await (await createService({ directory })).close();
    await fillSqlite(directory, many());
    await using service = await startService('off', undefined, { directory });
    return await rowsOf('SQLite', service);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function postgres(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-postgres-'));
  const cluster = await makeCluster(folder, findBinaries(folder), durable);
  try {
    const database = `${cluster.url}/urtuu`;
    await query(`${cluster.url}/postgres`, 'CREATE DATABASE urtuu');
    await (await createService({ database, secret: testSecret })).close();
    await fillPostgres(database, many());
    await using service = await startService('off', undefined, { database });
    return await rowsOf('PostgreSQL', service);
  } finally {
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function dashboard(): Promise<Row[]> {
  return [...(await sqlite()), ...(await postgres())];
}
