import { OutcomeUnknown, type Submission, type SubmitResult } from '../../../src/service/carriers/carrier.js';
import { smtpCarrier } from '../../../src/service/carriers/smtp/smtp.js';
import { ManualClock } from '../../../src/service/clock.js';
import { seededRandom as serviceRandom } from '../../../src/service/random.js';
import { ownRouteRates } from '../../../src/service/storage/route-limits.js';
import { mailOf } from '../../support/mails.js';
import { seededRandom } from '../../support/random.js';
import { Relay, type Step } from '../../support/relay.js';
import { type FuzzFindings, heapNow } from './pdu-fuzz.js';

const connections = 8;
/** Milliseconds that the clock moves on while nothing happens. */
const step = 60_000;
const longestMs = 3_600_000;
const ticksAStep = 8;

const codes = [
  '220',
  '221',
  '235',
  '250',
  '334',
  '354',
  '421',
  '450',
  '451',
  '530',
  '535',
  '550',
  '552',
  '599',
];

const inMail: readonly Step[] = ['MAIL', 'RCPT', 'DATA', 'body'];

/** A reply that no relay should give. */
function garbageReply(random: () => number, at: Step): string {
  const upTo = (most: number) => Math.floor(random() * most);
  const one = (): string => {
    const code = codes[upTo(codes.length)] as string;
    const noise = Buffer.from(Array.from({ length: upTo(40) }, () => upTo(256))).toString('latin1');
    const line = noise.replace(/[\r\n]/g, ' ');
    const replies = [
      `${code} ${line}`,
      code,
      `${code}-${line}\r\n${code} ${line}`,
      `${code}-${line}`,
      `${code}${line}`,
      line,
      noise,
      '',
      '\0',
      `${code} ${'x'.repeat(upTo(10_000))}`,
      `\ufeff${code} Ok`,
    ];
    return replies[upTo(replies.length)] as string;
  };
  if (random() < 0.0005) return '250-x\r\n'.repeat(200_000);
  // Two answers within a mail would be a riddle: the second is read as that of the next command, up to a 250 to the dot.
  return inMail.includes(at) || random() < 0.7 ? one() : `${one()}\r\n${one()}`;
}

type Submit = (submission: Submission, signal: AbortSignal) => Promise<SubmitResult>;

/** Whether what was said of a mail cannot be, for the times that the relay took it. */
function isUntrue(result: PromiseSettledResult<SubmitResult>, taken: number): boolean {
  if (taken > 1) return true;
  if (result.status === 'rejected') return false;
  return result.value.kind === 'accepted' ? taken === 0 : taken > 0;
}

/** Mails over a relay that answers anything; `around` stands between it and who sends. */
export async function playReplyFuzz(
  seed: number,
  inputs: number,
  around: (submit: Submit) => Submit = (submit) => submit,
): Promise<FuzzFindings & { untrue: number }> {
  const random = seededRandom(seed);
  const clock = new ManualClock(0);
  let isGood = false;
  const relay = new Relay({
    isPipelining: seed % 2 === 0,
    react: (at) => (isGood || random() < 0.75 ? null : garbageReply(random, at)),
  });
  const findings = { inputs: 0, crashes: 0, slow: 0, deaf: 0, grown: 0, untrue: 0, example: '' };
  const note = (problem: string) => {
    if (findings.example === '') findings.example = problem;
  };
  const port = await relay.listen();
  const carrier = smtpCarrier({
    settings: {
      host: '127.0.0.1',
      port,
      tls: 'off',
      login: null,
      from: 'a@example.mn',
      name: 'example.mn',
      bounceDomain: null,
      connections,
      perSecond: null,
      perDay: null,
    },
    bounceKey: new Uint8Array(32),
    limits: ownRouteRates(clock),
    clock,
    random: serviceRandom('replies'),
    report: () => {},
  });
  const submit = around(carrier.submit);
  let mails = 0;
  const before = heapNow();

  async function passed<Result>(promise: Promise<Result>): Promise<Result | null> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    promise.then(done, done);
    for (let time = 0; time < longestMs; time += step) {
      for (let tick = 0; tick < ticksAStep; tick += 1) {
        if (isDone) return promise;
        await new Promise(setImmediate);
      }
      // What is on its way through the kernel is no silence.
      if (relay.replies !== lastReplies) lastReplies = relay.replies;
      else clock.advance(step);
    }
    findings.slow += 1;
    return null;
  }
  let lastReplies = 0;

  const send = (to: string) => {
    const submission = mailOf({
      reference: `00000000-0000-7000-8000-${String(mails).padStart(12, '0')}`,
      ...{ to, subject: 'Hi' },
      text: mails % 500 === 0 ? 'a\r\n.\r\n'.repeat(20_000) : 'Сайн уу',
    });
    mails += 1;
    return submit(submission, new AbortController().signal);
  };

  try {
    await carrier.start(async () => {});
    while (relay.replies < inputs) {
      while (carrier.capacity('email') === 0) clock.advance(step);
      relay.taken.length = 0;
      relay.heard.length = 0;
      const all = Array.from({ length: connections }, (_, index) => `p${index}@example.com`);
      const results = await passed(Promise.allSettled(all.map(send)));
      for (const [index, result] of (results ?? []).entries()) {
        if (result.status === 'rejected' && !(result.reason instanceof OutcomeUnknown)) {
          findings.crashes += 1;
          note(String(result.reason));
        }
        const taken = relay.taken.filter(({ to }) => to === all[index]).length;
        if (!isUntrue(result, taken)) continue;
        findings.untrue += 1;
        note(`${JSON.stringify(result)}, taken ${taken} times`);
      }
    }
    findings.inputs = relay.replies;
    isGood = true;
    clock.advance(longestMs);
    const isAccepted = async () => (await passed(send('last@example.com')))?.kind === 'accepted';
    for (let tries = 0; tries < 20 && !(await isAccepted().catch(() => false)); tries += 1)
      if (tries === 19) findings.deaf += 1;
    findings.grown = Math.max(0, Math.round((heapNow() - before) / 1_000_000));
    return findings;
  } finally {
    await passed(carrier.stop());
    await relay.close();
  }
}

/** A control: what is unknown was not taken. */
export const hopeful =
  (submit: Submit): Submit =>
  (submission, signal) =>
    submit(submission, signal).catch((error: Error) => ({
      kind: 'later',
      reason: error.message,
      code: 'unknown',
      scope: 'message',
    }));
