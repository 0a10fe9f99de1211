import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type Carrier,
  OutcomeUnknown,
  type Submission,
  type SubmitResult,
} from '../../../../src/service/carriers/carrier.js';
import { AccessToken } from '../../../../src/service/carriers/smtp/access-token.js';
import { smtpCarrier } from '../../../../src/service/carriers/smtp/smtp.js';
import type { SmtpSettings } from '../../../../src/service/carriers/smtp/smtp-settings.js';
import { ManualClock } from '../../../../src/service/clock.js';
import { systemRandom } from '../../../../src/service/random.js';
import { ownRouteRates } from '../../../../src/service/storage/route-limits.js';
import { ticks } from '../../../support/cores.js';
import { mailOf } from '../../../support/mails.js';
import { type Reaction, Relay, type RelayOptions, type Step } from '../../../support/relay.js';

const key = Buffer.alloc(32, 7);
let relay: Relay;
let port: number;
let clock: ManualClock;
let carrier: Carrier;
let reports: unknown[];

function open(changes: Partial<SmtpSettings> = {}): Carrier {
  const settings: SmtpSettings = {
    host: '127.0.0.1',
    port,
    tls: 'off',
    login: null,
    from: 'no-reply@example.mn',
    name: 'example.mn',
    bounceDomain: null,
    connections: 2,
    perSecond: null,
    perDay: null,
    ...changes,
  };
  const report = (error: unknown) => void reports.push(error);
  return smtpCarrier({
    settings,
    bounceKey: key,
    limits: ownRouteRates(clock),
    clock,
    random: systemRandom,
    report,
  });
}

beforeEach(async () => {
  relay = new Relay();
  port = await relay.listen();
  clock = new ManualClock(Date.UTC(2026, 10, 22));
  reports = [];
  carrier = open();
  await carrier.start(async () => {});
});
afterEach(async () => {
  await passed(carrier.stop());
  await relay.close();
});

it('starts mails at its rate, single ones first', async () => {
  await passed(carrier.stop());
  // Thirty a minute.
  carrier = open({ perSecond: 0.5 });
  await carrier.start(async () => {});
  const { reserve } = carrier as Required<Carrier>;
  const begun = clock.monotonic();
  const started: [string, number][] = [];
  const ahead = new Set<number | undefined>();
  const waiting = ['batch 1', 'batch 2', 'single', 'batch 3'].map(async (name) => {
    const reservation = await reserve('email', name === 'single');
    started.push([name, clock.monotonic() - begun]);
    ahead.add(carrier.ahead?.('email'));
    await reservation?.submit(mailOf({ subject: name }), new AbortController().signal);
    reservation?.release();
  });
  await passed(Promise.all(waiting), 100);
  const gaps = started.slice(1).map(([, at], index) => at - (started[index]?.[1] ?? 0));
  expect(started.map(([name]) => name)).toEqual(['single', 'batch 1', 'batch 2', 'batch 3']);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_900);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(2_300);
  expect(relay.taken).toHaveLength(4);
  expect([carrier.capacity('email'), carrier.ahead?.('email')]).toEqual([10, 1]);
  // One of the next second, whatever the relay takes to answer the others.
  expect([...ahead]).toEqual([2]);
});

it('does not name its password, where a relay repeats the login that it refuses', async () => {
  const login = { user: 'urtuu', password: 'сэкрет-1' };
  relay.options.react = (step) =>
    step === 'AUTH' ? `500 5.5.1 Unrecognized: ${relay.heard.at(-1)} of ${login.password}` : null;
  carrier = open({ login });
  await carrier.start(async () => {});
  expect(await submit()).toMatchObject({ kind: 'later', scope: 'lane' });
  const [report] = reports as [Error];
  expect((report.cause as Error).message).toContain('500 5.5.1 Unrecognized: AUTH PLAIN … of …');
  expect(inspect(report)).not.toContain(login.password);
});

it.each([
  ['MAIL', '451 4.7.1 token ya29.s3cret over rate'],
  ['body', `550 5.7.1 ${'x'.repeat(170)} ya29.s3cret, ${Buffer.from('ya29.s3cret').toString('base64')}`],
  ['body', '354 ya29.s3cret'],
  ['body', '550 5.7.1 password pa55 word'],
] as const)('does not name a token or a password that its relay repeats after %s: %s', async (at, reply) => {
  const token = new AccessToken([process.execPath, '-p', '"ya29.s3cret"']);
  const login = reply.includes('pa55') ? { user: 'u', password: 'pa55 word' } : { user: 'a@b.mn', token };
  relay.options.react = (step) => (step === at ? reply : null);
  carrier = open({ login });
  await carrier.start(async () => {});
  const result = await submit().catch((unknown) => unknown);
  expect(inspect([result, result.message, reports])).toContain('…');
  expect(inspect([result, result.message, reports])).not.toMatch(/s3c|pa55|eWEyOS/);
});

it('takes another token at once where its relay refuses the one that it kept', async () => {
  const token = new AccessToken([process.execPath, '-p', 'process.pid']);
  relay.options.react = (step, count) => (step === 'AUTH' && count === 1 ? '535 5.7.3 Unsuccessful' : null);
  carrier = open({ login: { user: 'a@b.mn', token } });
  await carrier.start(async () => {});
  expect(await submit()).toMatchObject({ kind: 'accepted' });
  await passed(carrier.stop());
  await carrier.start(async () => {});
  expect(await submit()).toMatchObject({ kind: 'accepted' });
  const given = relay.heard.filter((line) => line.startsWith('AUTH XOAUTH2 '));
  expect(given[1]).toBe(given[0]);
  expect([new Set(given).size, given.length, reports]).toEqual([2, 3, []]);
});

it('calls itself by its name', async () => {
  expect(await submit()).toMatchObject({ kind: 'accepted' });
  expect(relay.heard[0]).toBe('EHLO example.mn');
});

const submission = (changes: Partial<Submission> = {}) =>
  mailOf({ from: 'Урту <no-reply@mail.urtuu.example>', ...changes });
const submit = (changes: Partial<Submission> = {}, signal = new AbortController().signal) =>
  carrier.submit(submission(changes), signal);

/** A result, for which the clock advances. */
async function passed<Result>(promise: Promise<Result>, step = 1_000): Promise<Result> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  while (!isDone) {
    await ticks(20);
    if (!isDone) clock.advance(step);
  }
  return promise;
}

/** `later lane`, `later message`, `refused`, `accepted` or `unknown`. */
async function resultOf(submitting: Promise<SubmitResult>): Promise<string> {
  try {
    const result = await submitting;
    if (result.kind !== 'later') return result.kind;
    return `later ${result.scope}${result.isOfRecipient ? ' of recipient' : ''}`;
  } catch (error) {
    expect(error).toBeInstanceOf(OutcomeUnknown);
    return 'unknown';
  }
}

/** The table of results. */
const rows: [Step, Reaction, string][] = [
  ['greeting', '421 4.3.2 Closing', 'later lane'],
  ['greeting', '554 No', 'later lane'],
  ['greeting', 'cut', 'later lane'],
  ['greeting', 'silent', 'later lane'],
  ['EHLO', '421 4.3.2 Closing', 'later lane'],
  ['EHLO', 'cut', 'later lane'],
  ['EHLO', 'silent', 'later lane'],
  ['AUTH', '535 5.7.8 Wrong password', 'later lane'],
  ['AUTH', '454 4.7.0 Try again', 'later lane'],
  ['AUTH', 'cut', 'later lane'],
  ['AUTH', 'silent', 'later lane'],
  ['MAIL', '421 4.3.2 Closing', 'later account'],
  ['MAIL', '450 4.7.1 Sender put off', 'later message'],
  ['MAIL', '452 4.3.1 Full', 'later message'],
  ['MAIL', '530 5.7.0 Log in first', 'later account'],
  ['MAIL', '535 5.7.8 Wrong password', 'later account'],
  ['MAIL', '550 5.7.1 Sender rejected', 'refused'],
  ['MAIL', '552 5.3.4 Too large', 'refused'],
  ['MAIL', '550 5.1.8 Sender unknown', 'refused'],
  [
    'MAIL',
    '550-5.4.5 Daily user sending limit exceeded. For more\r\n550 5.4.5 see a page - gsmtp',
    'later account',
  ],
  ['MAIL', '503 5.5.1 Bad sequence', 'later message'],
  ['MAIL', 'cut', 'later message'],
  ['MAIL', 'silent', 'later message'],
  ['MAIL', 'nonsense', 'later message'],
  ['RCPT', '421 4.3.2 Closing', 'later account'],
  ['RCPT', '450 4.2.1 Greylisted', 'later message of recipient'],
  ['RCPT', '550 5.1.1 User unknown', 'refused'],
  ['RCPT', '550 5.7.1 User a@b.mn has exceeded its 24-hour sending limit', 'later account'],
  ['RCPT', '550 5.2.1 The daily limit of this recipient is exceeded', 'refused'],
  ['RCPT', 'cut', 'later message'],
  ['RCPT', 'silent', 'later message'],
  ['RCPT', 'nonsense', 'later message'],
  ['DATA', '421 4.3.2 Closing', 'later account'],
  ['DATA', '451 4.3.0 Try again', 'later message'],
  ['DATA', '554 5.5.1 No', 'refused'],
  ['DATA', '250 Ok', 'later message'],
  ['DATA', 'cut', 'later message'],
  ['DATA', 'silent', 'later message'],
  ['body', '421 4.3.2 Closing', 'later account'],
  ['body', '451 4.3.0 Try again', 'later message'],
  ['body', '552 5.2.2 Mailbox full', 'refused'],
  ['body', '554 5.7.1 Spam', 'refused'],
  ['body', '554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException', 'later account'],
  ['body', '550 5.1.90 You have reached your daily limit for message recipients', 'later account'],
  ['body', '550 Domain a.mn has exceeded the max emails per hour (3/2 (150%)) allowed.', 'later account'],
  ['RCPT', '550 Domain a.mn has exceeded the max defers and failures per hour (5/5)', 'later account'],
  ['body', '550 5.7.705 Access denied, tenant has exceeded threshold', 'later account'],
  ['body', '550 5.7.700-749 Access denied, tenant has exceeded threshold', 'later account'],
  ['MAIL', '550 Maximum credits exceeded', 'later account'],
  ['body', '550 5.4.6 Unusual sending activity detected.', 'later account'],
  ['body', '554 5.4.6 Routing loop detected', 'refused'],
  ['body', '550 5.7.708 Access denied, traffic not accepted from this IP', 'refused'],
  ['body', '550 5.2.1 The recipient has exceeded their daily limit of received messages', 'refused'],
  ['body', '354 Again', 'unknown'],
  ['body', 'nonsense', 'unknown'],
  ['body', 'cut', 'unknown'],
  ['body', 'silent', 'unknown'],
  ['body', '250 2.0.0 Ok', 'accepted'],
];

describe.each([false, true])('a reply (pipelining: %s)', (isPipelining) => {
  it.each(rows)('%s: %s: %s', async (step, reaction, expected) => {
    const login = step === 'AUTH' ? { user: 'urtuu', password: 'secret' } : null;
    const extensions = ['AUTH PLAIN'];
    Object.assign(relay.options, { isPipelining, extensions } satisfies RelayOptions);
    relay.options.react = (at) => (at === step ? reaction : null);
    carrier = open({ login });
    await carrier.start(async () => {});
    expect(await resultOf(passed(submit()))).toBe(expected);
    expect(relay.taken.length).toBe(expected === 'accepted' || expected === 'unknown' ? 1 : 0);
    // A relay that answers again is used again, on whichever connection.
    delete relay.options.react;
    clock.advance(60_000);
    expect(await resultOf(passed(submit({ reference: 'next' })))).toBe('accepted');
  });
});

/** In the words of OpenSMTPD 6.8, which says the second of every recipient where it does not relay for this client. */
it.each([
  ['550 5.1.1 User unknown', true],
  ['550 Invalid recipient: <bold@example.com>', false],
  ['524 5.2.4 Mailing list expansion problem: <bold@example.com>', false],
])('a recipient that is refused with %s is known not to exist: %s', async (reply, isUnknown) => {
  relay.options.react = (step) => (step === 'RCPT' ? reply : null);
  const result = await submit();
  expect([result.kind, 'isUnknownRecipient' in result]).toEqual(['refused', isUnknown]);
});

describe.each([false, true])('a relay that answers as it likes (pipelining: %s)', (isPipelining) => {
  /** What is said of each mail is true of what its relay took. */
  async function expectTruth(mails: number): Promise<string[]> {
    const results: string[] = [];
    for (let mail = 0; mail < mails; mail += 1) {
      const to = `p${mail}@example.com`;
      const result = await resultOf(passed(submit({ reference: `m${mail}`, to })));
      const taken = relay.taken.filter((each) => each.to === to).length;
      results.push(result);
      expect([result, taken]).toEqual([result, result === 'accepted' ? 1 : 0]);
    }
    return results;
  }

  beforeEach(async () => {
    relay.options.isPipelining = isPipelining;
    carrier = open({ connections: 1 });
    await carrier.start(async () => {});
  });

  it('a byte at a time is understood', async () => {
    relay.options.inBytes = true;
    relay.options.react = (step) => (step === 'greeting' ? '220-relay.test\r\n220 ready' : null);
    expect(await expectTruth(3)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(relay.connections).toBe(1);
  });

  it.each(['250 2.0.0 Ok\r\n250 2.0.0 Ok', '250 2.0.0 Ok\r\n451 4.3.0 No', '250 Ok\r\n250 Ok\r\n250 Ok'])(
    'twice after a mail (%j) is asked again over another connection',
    async (reply) => {
      relay.options.react = (step) => (step === 'body' ? reply : null);
      const results = await expectTruth(10);
      expect(results[0]).toBe('accepted');
      expect(new Set(results)).not.toContain('refused');
      expect(relay.connections).toBeGreaterThan(1);
    },
  );

  it('once more while the next mail is under way is not taken for its answer', async () => {
    relay.options.react = (step, count) => (step === 'MAIL' && count === 1 ? '250 Ok\r\n250 Ok' : null);
    const results = await expectTruth(3);
    expect([results[0], results[2]]).toEqual(['accepted', 'accepted']);
    expect(results[1]).toMatch(/^later|^accepted$/);
  });

  it('4xx to RSET is given up, and the next mail goes over another connection', async () => {
    relay.options.react = (step, count) =>
      step === 'RSET' ? '451 4.3.0 Not now' : step === 'RCPT' && count === 0 ? '450 4.2.1 Later' : null;
    expect(await expectTruth(2)).toEqual(['later message of recipient', 'accepted']);
    expect(relay.connections).toBe(2);
  });

  it('421 between two mails is not an answer to the second', async () => {
    expect(await expectTruth(1)).toEqual(['accepted']);
    for (const socket of relay.sockets) socket.end('421 4.4.2 Idle too long\r\n');
    for (let tick = 0; tick < 100 && relay.sockets.size > 0; tick += 1) await ticks();
    expect(await resultOf(passed(submit({ reference: 'next' })))).toBe('accepted');
    expect([relay.connections, relay.taken.length]).toEqual([2, 2]);
  });
});

type React = NonNullable<RelayOptions['react']>;

describe('a relay that ends a connection after its first mail', () => {
  /** The results of two mails, and the connections that they took. No time passes. */
  async function results(react: React, end = async () => {}): Promise<unknown[]> {
    relay.options.react = react;
    carrier = open({ connections: 1 });
    await carrier.start(async () => {});
    expect(await resultOf(submit())).toBe('accepted');
    await end();
    return [await resultOf(submit({ reference: 'next' })), relay.taken.length, relay.connections];
  }
  const once =
    (at: Step, reaction: Reaction, most = 1): React =>
    (step, count) =>
      step === at && count > 0 && count <= most ? reaction : null;

  it.each<Reaction>(['cut', '421 Too many messages', '421 4.4.2 Timeout', '451 4.4.2 Timeout, closing'])(
    'with %s in place of the answer to MAIL is given the next one over a new connection at once',
    async (reaction) => {
      expect(await results(once('MAIL', reaction))).toEqual(['accepted', 2, 2]);
    },
  );

  it.each(['end', 'resetAndDestroy'] as const)(
    'with %s, heard of or not, is given the next one over a new connection at once',
    async (how) => {
      const endAll = async () => {
        for (const socket of relay.sockets) socket[how]();
      };
      expect(await results(() => null, endAll)).toEqual(['accepted', 2, 2]);
      for (const wait of [ticks, endAll]) {
        const reservation = await carrier.reserve?.('email', true);
        await endAll();
        await wait();
        expect(await reservation?.submit(submission(), new AbortController().signal)).toMatchObject({
          kind: 'accepted',
        });
        reservation?.release();
      }
    },
  );

  it.each<[string, React, unknown[]]>([
    ['with a policy about the sender', once('MAIL', '421 4.7.0 Too much from you'), ['later account', 1, 1]],
    ['after an answer', once('RCPT', 'cut'), ['later message', 1, 1]],
    ['over the new connection too', once('MAIL', 'cut', 2), ['later message', 1, 2]],
    [
      'and greets no other',
      (...given) => once('MAIL', 'cut')(...given) ?? once('greeting', '421 Busy')(...given),
      ['later lane', 1, 2],
    ],
    ['after the final dot', once('body', 'cut'), ['unknown', 2, 1]],
  ])('%s has the mail neither lost nor twice', async (_, react, expected) => {
    expect(await results(react)).toEqual(expected);
  });
});

describe('a mail', () => {
  it('is whole at its relay, or not taken, wherever it is cut', async () => {
    const whole = submission({ text: 'a'.repeat(3_000) });
    await carrier.submit(whole, new AbortController().signal);
    const size = relay.taken[0]?.raw.length ?? 0;
    expect(size).toBeGreaterThan(3_000);
    for (let byte = 1; byte < size; byte += 100) {
      relay.options.cutAtByte = { mail: relay.bodies, byte };
      expect(await resultOf(passed(carrier.submit(whole, new AbortController().signal)))).toBe('unknown');
      expect(relay.taken).toHaveLength(1);
    }
  });

  it('that was not given away whole was certainly not taken', async () => {
    const large = submission({ text: 'a'.repeat(20_000_000) });
    relay.options.cutAtByte = { mail: 0, byte: 100_000 };
    expect(await resultOf(passed(carrier.submit(large, new AbortController().signal)))).toBe('later message');
    expect(await resultOf(passed(submit()))).toBe('accepted');
  });

  it('has the time that RFC 5321 gives it: 2 min for its body, 10 for its answer', async () => {
    relay.options.react = (step) => (step === 'MAIL' ? 'silent' : null);
    let begun = clock.monotonic();
    await resultOf(passed(submit()));
    expect(clock.monotonic() - begun).toBe(120_000);
    relay.options.react = (step) => (step === 'body' ? 'silent' : null);
    begun = clock.monotonic();
    await resultOf(passed(submit()));
    expect(clock.monotonic() - begun).toBeGreaterThanOrEqual(600_000);
    expect(clock.monotonic() - begun).toBeLessThanOrEqual(carrier.submitMs);
  });

  it.each([
    ['MAIL', 'later message'],
    ['body', 'unknown'],
  ] as const)('that is ended while it waits at %s: %s', async (step, expected) => {
    relay.options.react = (at) => (at === step ? 'silent' : null);
    const abort = new AbortController();
    const submitting = resultOf(submit({}, abort.signal));
    const last =
      step === 'body'
        ? () => relay.taken.length > 0
        : () => relay.heard.some((line) => line.startsWith('MAIL'));
    for (let tick = 0; tick < 100 && !last(); tick += 1) await ticks();
    abort.abort();
    expect(await submitting).toBe(expected);
  });

  it('larger than its relay takes is refused', async () => {
    relay.options.extensions = ['SIZE 1000'];
    expect(await resultOf(submit({ text: 'a'.repeat(2_000) }))).toBe('refused');
    expect(relay.heard.filter((line) => line.startsWith('MAIL'))).toEqual([]);
    expect(await resultOf(submit())).toBe('accepted');
  });

  it('is not accepted by the reply to another command', async () => {
    relay.options.react = (step) => (step === 'MAIL' || step === 'RCPT' ? '250 Ok\r\n250 Ok' : null);
    expect(await resultOf(passed(submit()))).toBe('later message');
    expect(relay.taken).toEqual([]);
  });
});

describe('connections', () => {
  it('take 90 mails each', async () => {
    carrier = open({ connections: 1 });
    await carrier.start(async () => {});
    for (let mail = 0; mail < 181; mail += 1) await submit({ reference: `m${mail}` });
    expect(relay.connections).toBe(3);
    expect(relay.heard.filter((line) => line === 'QUIT')).toHaveLength(2);
    expect(relay.taken).toHaveLength(181);
  });

  it('are as many as configured, and singles come first', async () => {
    const order: string[] = [];
    const lent = await Promise.all([carrier.reserve?.('email', false), carrier.reserve?.('email', false)]);
    const waiting = ([false, false, true] as const).map(async (isSingle) => {
      const reservation = await carrier.reserve?.('email', isSingle);
      order.push(isSingle ? 'single' : 'batch');
      reservation?.release();
    });
    for (const reservation of lent) reservation?.release();
    await Promise.all(waiting);
    expect(order).toEqual(['single', 'batch', 'batch']);
    expect(relay.connections).toBe(2);
  });

  it('are reused after a refusal, with RSET', async () => {
    carrier = open({ connections: 1 });
    await carrier.start(async () => {});
    relay.options.react = (step, count) => (step === 'RCPT' && count === 0 ? '550 5.1.1 Unknown' : null);
    expect(await submit()).toMatchObject({ kind: 'refused', reason: 'its relay answered 550 5.1.1 Unknown' });
    expect(await resultOf(submit())).toBe('accepted');
    expect(relay.connections).toBe(1);
    expect(relay.heard).toContain('RSET');
  });

  it('keep nothing of the mails that were refused', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error) => void warnings.push(message);
    process.on('warning', note);
    onTestFinished(() => void process.off('warning', note));
    carrier = open({ connections: 1 });
    await carrier.start(async () => {});
    relay.options.react = (step) => (step === 'RCPT' ? '550 5.1.1 Unknown' : null);
    for (let mail = 0; mail < 20; mail += 1) expect(await resultOf(submit())).toBe('refused');
    await ticks();
    expect([relay.connections, warnings]).toEqual([1, []]);
  });

  it('close when they are idle', async () => {
    await submit();
    await ticks();
    clock.advance(10_000);
    for (let tick = 0; tick < 100 && relay.sockets.size > 0; tick += 1) await ticks();
    expect(relay.heard).toContain('QUIT');
    expect(relay.sockets.size).toBe(0);
  });

  it('are tried once a pause while the relay is away, and the lane is closed', async () => {
    await relay.close();
    const waiting = Array.from({ length: 20 }, () => carrier.reserve?.('email', false));
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => null));
    expect(carrier.capacity('email')).toBe(0);
    expect(carrier.isConnected?.('email')).toBe(false);
    expect(reports).toHaveLength(1);
    expect(await carrier.reserve?.('email', true)).toBeNull();
    await relay.listen(port);
    clock.advance(1_000);
    expect(carrier.capacity('email')).toBeGreaterThan(0);
    // It may try, which proves nothing yet.
    expect(carrier.isConnected?.('email')).toBe(false);
    expect(await resultOf(submit())).toBe('accepted');
    expect(carrier.isConnected?.('email')).toBe(true);
  });

  it('that the relay limits to fewer serve all, without long pauses', async () => {
    relay.options.react = (step) => (step === 'greeting' && relay.sockets.size > 1 ? '421 Too many' : null);
    const begun = clock.monotonic();
    const results = Array.from({ length: 400 }, (_, index) => resultOf(submit({ reference: `m${index}` })));
    expect(new Set(await passed(Promise.all(results), 100))).toEqual(new Set(['accepted']));
    expect(carrier.capacity('email')).toBeGreaterThan(0);
    expect(clock.monotonic() - begun).toBeLessThan(60_000);
  });

  it('return what waits when the relay turns slow, and no more is claimed than they carry', async () => {
    for (let mails = 0; mails < 50; mails += 1) await submit();
    expect(carrier.ahead?.('email')).toBeGreaterThan(100);
    relay.options.react = (step) => (step === 'body' ? 'silent' : null);
    const stuck = [submit(), submit()].map(resultOf);
    for (let tick = 0; tick < 100 && relay.taken.length < 52; tick += 1) await ticks();
    const [ofBatch, single] = [carrier.reserve?.('email', false), carrier.reserve?.('email', true)];
    clock.advance(1_000);
    expect(carrier.ahead?.('email')).toBe(2);
    clock.advance(1_000);
    expect(await ofBatch).toBeNull();
    await passed(carrier.stop());
    expect(await Promise.all([...stuck, single])).toEqual(['unknown', 'unknown', null]);
  });

  it('end with a stop: what was not taken is put off, what may have been is unknown', async () => {
    relay.options.react = (step, count) =>
      (step === 'body' && count === 0) || (step === 'MAIL' && count === 1) ? 'silent' : null;
    const first = resultOf(submit());
    for (let tick = 0; tick < 100 && relay.taken.length === 0; tick += 1) await ticks();
    const second = resultOf(submit());
    for (let tick = 0; tick < 10; tick += 1) await ticks();
    await passed(carrier.stop());
    expect(await Promise.all([first, second])).toEqual(['unknown', 'later message']);
    expect(carrier.capacity('email')).toBe(0);
  });
});
