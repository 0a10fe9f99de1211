import { describe, expect, it } from 'vitest';
import type { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import type { Ending } from '../../../../src/cli/bulk/send/ending.js';
import type { SendingClient } from '../../../../src/cli/bulk/send/send-once.js';
import { judgeJob } from '../../../../src/cli/commands/bulk/verdict.js';
import type { Reply } from '../../../support/run.js';
import { checksummed } from '../../bulk/journal-lines.js';
import { memoryPlan, numbers } from '../../bulk/memory-plan.js';
import { clientOf, Refused } from '../../bulk/model-service.js';
import { setting } from '../../bulk/run-in.js';
import { desk, people } from './desks.js';

const batch = memoryPlan([{ to: numbers(3), text: 'to all' }]);
const exitOf = ({ ending, state }: { ending: Ending; state: JobState }) => judgeJob(state, ending).exit;
const lost = () => new Refused('connection_error', null);
const poor = (balance = 0) => new Refused('insufficient_credits', 402, { balance, required: 30 });

/** A client that meets these errors one after the other, the last one for ever; null lets the service answer. */
function meeting(
  given: ReturnType<typeof setting>,
  errors: (Error | null)[],
  balance = 1_000,
): SendingClient {
  let sends = 0;
  const client = clientOf(given.service, async (call) => {
    const error = errors[Math.min(sends, errors.length - 1)] ?? null;
    sends += 1;
    if (error !== null) throw error;
    return call();
  });
  return { ...client, balance: { get: async () => ({ balance }) } };
}

const elsewhere: Reply = {
  status: 308,
  headers: { Location: 'https://login.example.mn/sign-in?next=secret' },
  text: '',
};

it.each([
  ['ECONNREFUSED', 'connection refused'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host'],
])('a job that never reached the service says why: %s', async (code, reason) => {
  const here = desk(people(2));
  here.project.options.instead = ({ method }) =>
    method === 'POST' ? Object.assign(new Error('no'), { code, syscall: 'connect' }) : undefined;
  const { code: exit, stderr } = await here.run("sms bulk list.csv --text 'Hello' --yes --max-wait 5s");
  expect(exit).toBe(5);
  expect(stderr).toContain(
    `Stopped: cannot connect to http://127.0.0.1:7788/v1: ${reason} (${code}). 0 accepted, 2 not sent yet.`,
  );
});

describe('a redirect', () => {
  it.each([
    ["--text 'Hello {name}' --concurrency 1", 1],
    ['--text Hello', 30],
  ])('stops the job after three tries, in doubt, and is named: %s', async (options, doubtful) => {
    const here = desk(people(30));
    here.project.options.instead = ({ method }) => (method === 'POST' ? elsewhere : undefined);
    const line = `sms bulk list.csv ${options} --job july --yes`;
    const { code, stderr, slept } = await here.run(line);
    expect(code).toBe(6);
    expect(here.project.sends).toHaveLength(3);
    expect(slept).toBeLessThan(10_000);
    expect(stderr).toContain(
      'Stopped: HTTP 308: redirected to https://login.example.mn (a proxy, or a wrong base URL). ',
    );
    expect(stderr).toContain(`${doubtful} in doubt`);
    expect(stderr).toContain('urtuu jobs resume july');
    expect(stderr).not.toContain('secret');
    delete here.project.options.instead;
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect(
      new Set(here.project.sends.slice(0, 4).map(({ headers }) => headers['Idempotency-Key'])).size,
    ).toBe(1);
    expect([...here.project.received().values()]).toEqual(Array(30).fill(1));
  });

  it('of a proxy that is gone at the next try does no harm', async () => {
    const here = desk(people(3));
    let left = 2;
    here.project.options.instead = ({ method }) => {
      if (method !== 'POST' || left === 0) return undefined;
      left -= 1;
      return elsewhere;
    };
    expect(await here.run("sms bulk list.csv --text 'Hello' --yes")).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1]);
  });
});

describe('one copy without an answer keeps its key', () => {
  it('however often an outdated balance is named while there is enough', async () => {
    const given = setting({}, batch);
    const { ending, state } = await given.run(meeting(given, [lost(), poor()]));
    expect(new Set(given.service.keys).size).toBe(1);
    expect(state.counts).toMatchObject({ in_doubt: 3, pending: 0 });
    expect(exitOf({ ending, state })).toBe(6);
  });

  it('when the copy arrives after all: nobody gets it twice', async () => {
    const given = setting({}, batch);
    const copies: (() => object)[] = [];
    let sends = 0;
    const client = clientOf(given.service, async (call) => {
      sends += 1;
      if (sends === 1) {
        copies.push(call);
        throw lost();
      }
      if (given.clock.time < 1_700_000_009_000) throw poor();
      copies.shift()?.();
      return call();
    });
    const end = await given.run({ ...client, balance: { get: async () => ({ balance: 1_000 }) } });
    expect(exitOf(end)).toBe(0);
    expect([...given.service.accepted.values()]).toEqual([1, 1, 1]);
  });

  it.each([
    ['a balance that is too low', poor(), 0, 6],
    ['rate_limited for longer than --max-wait', new Refused('rate_limited', 429, { retryAfter: 900 }), 0, 6],
    ['unauthorized', new Refused('unauthorized', 401), 0, 6],
    ['forbidden', new Refused('forbidden', 403), 0, 6],
    ['not_found', new Refused('not_found', 404), 0, 6],
    ['request_too_large', new Refused('request_too_large', 413), 0, 6],
    ['a refusal of another kind', new Refused('teapot', 418), 0, 6],
    [
      'entries that are not in the body',
      new Refused('invalid_request', 400, { invalid: ['70112233'] }),
      0,
      6,
    ],
  ])('after %s it is in doubt, in this run and in the next ones', async (_, error, balance, exit) => {
    const given = setting({}, batch);
    const first = await given.run(meeting(given, [lost(), error], balance), { maxWait: 5_000 });
    expect(first.state.counts).toMatchObject({ in_doubt: 3, pending: 0 });
    expect(exitOf(first)).toBe(exit);
    const second = await given.run(meeting(given, [error], balance), { maxWait: 5_000 });
    expect(second.state.counts).toMatchObject({ in_doubt: 3, pending: 0 });
    const third = await given.run(meeting(given, [poor()]), { maxWait: 5_000 });
    expect(exitOf(third)).toBe(6);
    expect(new Set(given.service.keys).size).toBe(1);
    const last = await given.run();
    expect(exitOf(last)).toBe(0);
    expect(new Set(given.service.keys).size).toBe(1);
  });

  it.each<[string, Error, string]>([
    [
      '400 with entries of the body',
      new Refused('invalid_request', 400, { invalid: numbers(1) }),
      'accepted',
    ],
    ['422', new Refused('message_too_long', 422), 'rejected'],
    ['400 without entries', new Refused('invalid_request', 400), 'rejected'],
  ])('until %s answers every copy', async (_, error, phase) => {
    const given = setting({}, batch);
    const { state } = await given.run(meeting(given, [lost(), error, null]));
    expect(state.phase(0)).toBe(phase);
    expect(state.counts.in_doubt).toBe(0);
  });

  it('also in a set-aside single send', async () => {
    const single = memoryPlan([{ to: numbers(1), text: 'one' }]);
    const given = setting({}, single);
    const capped = new Refused('recipient_rate_limited', 429, { retryAfter: 900 });
    const first = await given.run(meeting(given, [lost(), capped]));
    expect(first.state.counts).toMatchObject({ in_doubt: 1, pending: 0 });
    expect(exitOf(first)).toBe(6);
  });

  it('is resolved with its own key although the balance has run out for others', async () => {
    const given = setting(
      {},
      memoryPlan([
        { to: numbers(3), text: 'new' },
        { to: numbers(3, 10), text: 'in doubt' },
      ]),
    );
    // The second request arrived, and its answer was lost; the process died.
    let sends = 0;
    const abandon = new AbortController();
    const dying = clientOf(given.service, async (call) => {
      sends += 1;
      if (sends === 1) throw new Refused('insufficient_credits', 402, { balance: 0, required: 30 });
      call();
      abandon.abort();
      return new Promise(() => {});
    });
    await given.run(
      { ...dying, balance: { get: async () => ({ balance: 0 }) } },
      { concurrency: 2, abandon: abandon.signal },
    );
    const poorClient = clientOf(given.service, async (call) => {
      if (given.service.keys.at(-1) === given.service.keys[0]) throw poor();
      return call();
    });
    const { state, ending } = await given.run(
      { ...poorClient, balance: { get: async () => ({ balance: 0 }) } },
      { concurrency: 1 },
    );
    expect(state.counts).toMatchObject({ accepted: 3, pending: 3, in_doubt: 0 });
    expect(exitOf({ ending, state })).toBe(7);
  });
});

describe('an outdated balance that is bound to the key', () => {
  it('gets a new key when every copy was answered', async () => {
    const given = setting({ binding: true, credits: 0 }, batch);
    const first = await given.run();
    expect(exitOf(first)).toBe(7);
    given.service.balance = 1_000;
    expect(exitOf(await given.run())).toBe(0);
    expect([...given.service.accepted.values()]).toEqual([1, 1, 1]);
  });

  it('named for ever ends with 7 within --max-wait, revisions or not', async () => {
    for (const maxWait of [0, 1_000, 60_000, 600_000]) {
      const given = setting({}, batch);
      const start = given.clock.time;
      const end = await given.run(meeting(given, [poor()]), { maxWait });
      expect(exitOf(end)).toBe(7);
      expect(end.state.counts).toMatchObject({ pending: 3, in_doubt: 0 });
      expect(given.clock.time - start).toBeLessThanOrEqual(Math.max(maxWait, 2_000));
    }
  });

  it('named for one request alone ends with 7 too, when others were accepted meanwhile', async () => {
    const given = setting();
    const client = clientOf(given.service, async (call) => {
      if (given.service.keys.at(-1) === given.service.keys[0]) throw poor();
      return call();
    });
    const end = await given.run(
      { ...client, balance: { get: async () => ({ balance: 1_000 }) } },
      { maxWait: 1_000, concurrency: 3 },
    );
    expect(exitOf(end)).toBe(7);
  });
});

describe('a journal of an earlier release', () => {
  it('says refused of what may have had an unanswered copy: the key stays', async () => {
    const given = setting({}, { ...batch, meta: { ...batch.meta, version: 1 } });
    given.disk.files.set('j', {
      bytes: Buffer.from(
        [
          checksummed([['job', 'job', batch.meta.digest]]),
          checksummed([['send', 0, 0, 3]]),
          checksummed([['refused', 0, 0, 'insufficient_credits']]),
        ].join(''),
      ),
      synced: 0,
    });
    const first = await given.run(meeting(given, [poor()]), { maxWait: 60_000 });
    expect(exitOf(first)).toBe(6);
    expect(exitOf(await given.run())).toBe(0);
    expect(new Set(given.service.keys).size).toBe(1);
  });
});

describe('a request that never left', () => {
  it('is not in doubt: the service was away, exit 5', async () => {
    const given = setting({}, batch);
    const away = new Refused('connection_error', null, { requestSent: false });
    const end = await given.run(meeting(given, [away]), { maxWait: 1_000 });
    expect(end.state.counts).toMatchObject({ pending: 3, in_doubt: 0 });
    expect(exitOf(end)).toBe(5);
  });

  it('resolves nothing of a copy before it', async () => {
    const given = setting({}, batch);
    const away = new Refused('connection_error', null, { requestSent: false });
    const end = await given.run(meeting(given, [lost(), away]), { maxWait: 1_000 });
    expect(exitOf(end)).toBe(6);
  });
});
