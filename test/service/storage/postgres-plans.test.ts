import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import type { ClaimedMessage, MessageClass } from '../../../src/service/storage/store.js';
import { ownCluster } from '../../support/postgres/own-cluster.js';
import { query } from '../../support/postgres.js';
import {
  answerOf,
  batch,
  claimOf,
  failed,
  leaseMs,
  message,
  project,
  sent,
  start,
} from './conformance/fixture.js';

const count = 1_000;
/** Every plan of every statement, those within functions too, with the rows that it went through. */
const explained = `
shared_preload_libraries = 'auto_explain'
auto_explain.log_min_duration = 0
auto_explain.log_nested_statements = on
auto_explain.log_analyze = on
auto_explain.log_timing = off
auto_explain.log_format = json
autovacuum = off
`;

interface Node {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Node[];
}

/** The rows that the busiest step of a plan went through. */
function rowsOf(node: Node): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return Math.max(
    (node['Actual Rows'] + removed) * node['Actual Loops'],
    ...(node.Plans ?? []).map((inner) => rowsOf(inner)),
  );
}

function statementsOf(log: string): { text: string; rows: number }[] {
  return [...log.matchAll(/ {2}plan:\n((?:\t.*\n)+)/g)].map(([, lines = '']) => {
    const { 'Query Text': text, Plan: plan } = JSON.parse(lines.replaceAll(/^\t/gm, '')) as {
      'Query Text': string;
      Plan: Node;
    };
    return { text: text.replaceAll(/\s+/g, ' '), rows: rowsOf(plan) };
  });
}

/** A store that nobody analyses. */
async function open() {
  const { folder, url } = await ownCluster(explained);
  const clock = new ManualClock(start);
  const storage = await openPostgresStorage({
    url,
    secret: new Uint8Array(32).fill(7),
    clock,
    now: () => clock.now(),
    report() {},
  });
  onTestFinished(() => storage.close());
  const statements = () => statementsOf(readFileSync(join(folder, 'log'), 'utf8'));
  return { url, store: storage.store, statements };
}

// The planner expects ten rows of an array. With the statistics of small tables it then compares each with each.
it.each([
  ['all tables', ''],
  ['messages and queue', 'messages, queue'],
])(
  'with statistics of a few rows in %s, no statement compares 1,000 messages each with each',
  async (_name, tables) => {
    const { statements: all, store, url } = await open();
    let tokens = 0;
    const newToken = () => {
      tokens += 1;
      return `t${tokens}`;
    };
    const accept = async (many: number) => {
      const acceptances = Array.from({ length: many }, (_, index) => {
        const token = newToken();
        return message({ to: `${88_000_000 + index}`, idempotencyKey: token, claim: claimOf(token) });
      });
      const results = await Promise.all(acceptances.map((one) => store.acceptMessage(one)));
      return results.flatMap((one) => (one.kind === 'accepted' ? one.claimed : []));
    };
    const finalize = (claimed: readonly ClaimedMessage[], outcome = sent) =>
      store.finalizeMessages(
        claimed.map((one) => ({ claimed: one, outcome })),
        answerOf,
      );
    const claim = (kind: MessageClass) =>
      store.claimMessages({ token: newToken(), leaseMs, limit: count, lane: 'sms', class: kind });

    await store.createProject({ ...project, balance: 1_000_000 });
    await store.beginEvents(project.id, 1);
    await finalize(await accept(20));
    await finalize(await accept(20), failed);
    await query(url, `ANALYZE ${tables}`);
    const { length: before } = all();

    await finalize(await accept(count));
    await finalize(await accept(count), failed);
    const numbers = Array.from({ length: count }, (_, index) => `${99_000_000 + index}`);
    expect((await store.acceptBatch(batch(numbers))).kind).toBe('accepted');
    const first = await claim('batch');
    await store.postponeMessages(first.map((claimed) => ({ claimed, delayMs: 0, isTry: false })));
    const claimed = await claim('batch');
    const submissions = claimed.map((one) => ({
      claimed: one,
      attempt: one.attempts + 1,
      route: 'Mobicom',
      doubtMs: 1_000,
    }));
    await store.markSubmitting(submissions);
    const marked = submissions.map(({ claimed, attempt, route }) => ({
      ...claimed,
      mark: { attempt, route },
    }));
    await store.leaveInDoubt(marked.map((one) => ({ claimed: one, delayMs: 0 })));
    const doubts = await store.claimDoubts({ token: 'doubts', leaseMs, limit: count, lane: 'sms' });
    expect((await finalize(doubts)).filter((end) => end !== null)).toHaveLength(count);

    const events = { limit: count, types: null };
    for (const number of [0, count])
      expect(await store.takeEvents(project.id, { line: 1, number }, events)).toMatchObject({
        next: { number: number + count },
      });

    const statements = all().slice(before);
    expect(statements.length).toBeGreaterThan(50);
    expect(statements.filter(({ rows }) => rows > 10 * count)).toEqual([]);
  },
);

// It takes any index of the lane then, and sorts all that waits for each project.
it('without statistics a claim in turn goes through what it takes, not through all that waits', async () => {
  const { store, statements, url } = await open();
  const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
  for (const [index, name] of names.entries()) {
    await store.createProject({ id: name, name, balance: 1_000_000 });
    for (const from of [0, 50]) {
      const to = Array.from({ length: 50 }, (_, number) => `${99_000_000 + index * 100 + from + number}`);
      // One batch of every other project.
      if (from === 0 || index % 2 === 0) await store.acceptBatch(batch(to, { projectId: name }));
    }
  }
  // Of one project more; enough for the indexes to differ in size.
  await query(
    url,
    `INSERT INTO queue (lane, class, project, batch, due_at, message, queued_at, bound_at)
     SELECT 'sms', 1, 999, 999, $1::bigint, 1000000 + n, $1, $1 FROM generate_series(1, 30000) n`,
    [start],
  );
  const { length: before } = statements();
  const claimed = await store.claimMessages({ token: 't', leaseMs, limit: 82, lane: 'sms', class: 'batch' });
  expect(claimed).toHaveLength(80);
  expect(await store.findWaiting('sms', ['p0', 'p1'])).toHaveLength(2);
  const after = statements().slice(before);
  expect(after.length).toBeGreaterThan(10);
  expect(after.filter(({ rows }) => rows > 400)).toEqual([]);
});

it('without statistics, recipients that are looked up at once are not compared with all that are suppressed', async () => {
  const { store, statements, url } = await open();
  await store.createProject(project);
  await query(
    url,
    `INSERT INTO suppressions (project, recipient, reason, created_at)
     SELECT seq, 'r' || n, 'manual', 1 FROM projects, generate_series(1, 20000) n`,
  );
  const { length: before } = statements();
  const found = await store.findSuppressions(
    project.id,
    Array.from({ length: count }, (_, n) => `r${n}`),
  );
  expect(found.filter((one) => one !== null)).toHaveLength(count - 1);
  expect(
    statements()
      .slice(before)
      .filter(({ rows }) => rows > 10 * count),
  ).toEqual([]);
});
