import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { systemClock } from '../../../src/service/clock.js';
import type { CoreDoubles } from '../../../src/service/core.js';
import { openCore } from '../../../src/service/core.js';
import { type App, createApp } from '../../../src/service/http/app.js';
import type { RequestHandler } from '../../../src/service/http/call.js';
import { listen } from '../../../src/service/http/listen.js';
import type { ServiceOptions } from '../../../src/service/service.js';
import type {
  BatchAcceptance,
  BatchRecord,
  ClaimedMessage,
  Mark,
  Store,
} from '../../../src/service/storage/store.js';
import { dataAt } from './data.js';
import { leaseMs, leaseVariable } from './lease.js';

/** How a service is broken on purpose, so that a harness can show what it would catch. */
export type Break =
  | 'nothing'
  | 'forgets_keys'
  | 'forgets_submissions'
  | 'answers_before_it_stores'
  | 'resets_in_any_order'
  | 'boundless'
  | 'marks_after_the_bytes'
  | 'sends_again_what_is_unknown'
  | 'calls_what_is_unknown_sent'
  | 'believes_what_a_repeat_is_answered'
  | 'measures_on_the_system_clock'
  | 'trusts_its_own_clock'
  | 'follows_its_search_path'
  | 'serves_one_project_after_the_other';

const doubles: Record<Break, CoreDoubles> = {
  nothing: {},
  boundless: {},
  measures_on_the_system_clock: {},
  trusts_its_own_clock: {},
  follows_its_search_path: {},
  forgets_keys: {
    admit: (admit) => (admission) => admit({ ...admission, idempotencyKey: null }),
    store: (store) => ({
      ...store,
      findAnswer: async () => undefined,
      acceptMessage: (message) => store.acceptMessage({ ...message, idempotencyKey: null }),
      acceptBatch: (batch) => store.acceptBatch({ ...batch, idempotencyKey: null }),
    }),
  },
  forgets_submissions: {
    carrier: (carrier) => {
      const asked = new Set<string>();
      return {
        ...carrier,
        async inquire(reference, to, before) {
          if (asked.has(reference)) return carrier.inquire(reference, to, before);
          asked.add(reference);
          return 'not_taken';
        },
      };
    },
  },
  resets_in_any_order: {
    store: (store) => ({
      ...store,
      beginReset: async () => true,
      async reset(balance, holdMs) {
        await store.reset(balance, holdMs);
        await sleep(50);
        return [];
      },
    }),
  },
  marks_after_the_bytes: { store: markingLate },
  sends_again_what_is_unknown: {
    carriers: (all) => all.map((carrier) => ({ ...carrier, inquire: async () => 'not_taken' })),
  },
  calls_what_is_unknown_sent: {
    carriers: (all) => all.map((carrier) => ({ ...carrier, inquire: async () => 'taken' })),
  },
  believes_what_a_repeat_is_answered: {
    store: (store) => ({
      ...store,
      async leaveInDoubt(all) {
        const isRepeated = ({ claimed }: { claimed: ClaimedMessage }) => claimed.attempts > 1;
        await store.leaveInDoubt(all.filter((one) => !isRepeated(one)));
        const error = { code: 'provider_failed', message: 'it was refused' } as const;
        const failed = all.filter(isRepeated).map(({ claimed }) => ({
          claimed,
          outcome: { status: 'failed', error } as const,
        }));
        await store.finalizeMessages(failed, () => ({ status: 502, body: '{}' }));
      },
    }),
  },
  serves_one_project_after_the_other: {
    store: (store) => ({
      ...store,
      async claimMessages(claim) {
        const projects = (await store.listProjects()).map(({ id }) => id);
        for (const first of projects) {
          const limits = new Map(projects.filter((id) => id !== first).map((id) => [id, 0]));
          const claimed = await store.claimMessages({ ...claim, limits });
          if (claimed.length > 0) return claimed;
        }
        return [];
      },
    }),
  },
  answers_before_it_stores: {
    store: (store) => ({
      ...store,
      async acceptBatch(batch) {
        setTimeout(() => void store.acceptBatch(batch).catch(() => {}), 50);
        return { kind: 'accepted', balance: 0, batch: recordOf(batch), claimed: [] };
      },
    }),
  },
};

function markingLate(store: Store): Store {
  const held = new Map<string, Mark>();
  const markNow = async (written: readonly { claimed: ClaimedMessage }[]) => {
    const marks = written.flatMap(({ claimed }) => held.get(claimed.message.id) ?? []);
    for (const { claimed } of marks) held.delete(claimed.message.id);
    if (marks.length > 0) await store.markSubmitting(marks);
  };
  return {
    ...store,
    async markSubmitting(marks) {
      for (const mark of marks) held.set(mark.claimed.message.id, mark);
      return marks.map(() => true);
    },
    async finalizeMessages(all, answer) {
      await markNow(all);
      return store.finalizeMessages(all, answer);
    },
    async postponeMessages(all) {
      await markNow(all);
      return store.postponeMessages(all);
    },
    async leaveInDoubt(all) {
      await markNow(all);
      return store.leaveInDoubt(all);
    },
  };
}

function recordOf({ batchId: id, channel, recipients, credits }: BatchAcceptance): BatchRecord {
  const total = recipients.length;
  const counts = { total, sent: 0, failed: 0, unknown: 0, credits: credits * total };
  const times = { createdAt: Date.now(), completedAt: null, prunedAt: null };
  return { id, status: 'processing', channel, ...counts, ...times };
}

const boundless = {
  writeTimeout: 10 ** 9,
  bounds: { connections: Infinity, unanswered: Infinity, waiting: Infinity },
};

/** Writes the description of the service for each request, as one without a cache does. */
function writingAnew({ answer }: App): RequestHandler {
  return async (request, notes) => {
    const { body, ...head } = await answer(request, notes);
    return { ...head, body: body.toString() };
  };
}

/** With a clock of its own, a service on a database takes the time from it. */
const options: Partial<Record<Break, ServiceOptions>> = {
  measures_on_the_system_clock: { clock: { ...systemClock, monotonic: () => Date.now() } },
  trusts_its_own_clock: { clock: systemClock, rates: 'off' },
};

/** Where names without a schema are looked up and made. */
async function currentSchema(database: string): Promise<string> {
  const client = new Client({ connectionString: database });
  await client.connect();
  const { rows } = await client.query('SELECT current_schema()::text AS name');
  await client.end();
  return rows[0].name;
}

/**
 * The service as a process of its own, without a request rate. Prints its base URL as JSON. With `reset` for a port
 * it resets the service in the folder and ends.
 */
async function main(data: string, given: string, broken: Break, file: string): Promise<void> {
  const carriers = file === '' ? {} : { configuration: { file, environment: process.env } };
  const core = await openCore(
    {
      ...dataAt(data),
      ...(options[broken] ?? { rates: 'off' }),
      ...(broken === 'follows_its_search_path' && { databaseSchema: await currentSchema(data) }),
      ...carriers,
    },
    { ...doubles[broken], leaseMs: Number(process.env[leaseVariable] ?? leaseMs) },
  );
  if (given === 'reset') {
    await core.administration.reset();
    return core.close();
  }
  const port = Number(given);
  const app = createApp(core.operations);
  const listening = await (broken === 'boundless'
    ? listen(writingAnew(app), { port }, boundless)
    : listen(app.answer, { port }));
  process.once('SIGTERM', async () => {
    await listening.close();
    await core.close();
    process.exit(0);
  });
  process.stdout.write(`${JSON.stringify({ base_url: listening.url })}\n`);
}

const [data = '', port = '0', broken = 'nothing', file = ''] = process.argv.slice(2);
void main(data, port, broken as Break, file);
