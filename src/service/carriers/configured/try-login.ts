import { randomBytes } from 'node:crypto';
import { systemClock as clock } from '../../clock.js';
import { formatMailbox } from '../../mailbox.js';
import { systemRandom } from '../../random.js';
import { OutcomeUnknown, type Submission, type SubmitResult } from '../carrier.js';
import { checkRoute } from '../smpp/check-route.js';
import { dial } from '../smpp/connection/dial.js';
import { localRouteLimits } from '../smpp/limits.js';
import type { SmppRoute } from '../smpp/route-settings.js';
import { segmentsOf } from '../smpp/segments.js';
import { smppCarrier } from '../smpp/smpp.js';
import { routeFields } from '../smpp/submit-fields.js';
import { Connection } from '../smtp/connection.js';
import { composeMail } from '../smtp/mail.js';
import type { SmtpSettings } from '../smtp/smtp-settings.js';
import type { RouteTrial, TrialAnswer } from './configuration.js';
import { withTlsAdvice } from './tls-problems.js';

/** Milliseconds to connect and log in. */
const loginMs = 10_000;
const endless = new AbortController().signal;
const scopes = { lane: 'not_sent', account: 'account', rate: 'later', message: 'later' } as const;

/** An SMS over SMPP, from a bind of its own. What else the operator delivers to it is answered "try again". */
export function trySmpp(route: SmppRoute, submission: Submission, address: string): RouteTrial {
  const tools = { clock, random: systemRandom };
  const fields = Object.entries(routeFields(route, submission.to));
  const segments = segmentsOf(submission.text ?? '', route, 0);
  const lines = segments.map(({ fields: { data_coding, short_message }, options }) => {
    const octets = [short_message as Buffer, ...options.values()].reduce((sum, each) => sum + each.length, 0);
    return [
      'submit_sm',
      ...fields.map((each) => each.join('=')),
      `data_coding=${data_coding}`,
      `octets=${octets}`,
    ];
  });
  const request = [`bind to ${address} as ${route.systemId}`, ...lines.map((line) => line.join(' '))].join(
    '\n',
  );
  return {
    request,
    async send() {
      const problem = await checkRoute(route, tools, loginMs);
      if (problem !== null) return notSent(await withTlsAdvice(problem, address));
      const limits = localRouteLimits(clock);
      const carrier = smppCarrier({ routes: [{ ...route, binds: 1 }], ...tools, limits, dial, report() {} });
      await carrier.start(() => Promise.reject(new Error('it is not stored')));
      return answerOf(carrier.submit(submission, endless)).finally(() => carrier.stop());
    },
  };
}

/** An email over a connection of its own. A bounce of it belongs to no message. */
export async function trySmtp(
  settings: SmtpSettings,
  submission: Submission,
  address: string,
): Promise<RouteTrial> {
  const { from, bounceDomain: domain, name } = settings;
  const bounces = domain === null ? null : { key: randomBytes(32), domain };
  const mail = await composeMail(
    { ...submission, from: formatMailbox({ name: '', address: from }) },
    { from, bounces },
    clock.now(),
  );
  const envelope = [`EHLO ${name}`, `MAIL FROM:<${mail.from}>`, `RCPT TO:<${mail.to}>`, 'DATA'];
  return {
    request: [`connect to ${address}`, ...envelope, mail.bytes.toString().trimEnd()].join('\n'),
    async send() {
      let connection: Connection;
      try {
        connection = await Connection.open(settings, clock, endless, loginMs);
      } catch (error) {
        return notSent(await withTlsAdvice((error as Error).message, address));
      }
      const submitted = connection.submit(mail, endless) as Promise<SubmitResult>;
      const answer = await answerOf(submitted, () => connection.lastAnswer);
      await connection.quit();
      return answer;
    },
  };
}

const nothing = { status: null, ids: [], reason: '', answer: '' };
const notSent = (reason: string): TrialAnswer => ({ ...nothing, rule: 'not_sent', reason: oneLine(reason) });
const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ').trim();

async function answerOf(submitted: Promise<SubmitResult>, words = () => ''): Promise<TrialAnswer> {
  try {
    const result = await submitted;
    const answer = oneLine(words());
    if (result.kind === 'accepted') {
      const { carrierIds: ids, delivery } = result;
      const status = Number.parseInt(answer, 10) || 0;
      return {
        ...nothing,
        rule: delivery === undefined ? 'accepted' : 'partly_accepted',
        status,
        ids,
        answer,
      };
    }
    const rule =
      result.kind === 'later'
        ? scopes[result.scope]
        : result.isUnknownRecipient === true
          ? 'unknown_recipient'
          : 'refused';
    // `0x58`, or `450 4.7.1`.
    const status = Number((result.code ?? '').split(' ')[0]);
    return { ...nothing, rule, status: Number.isNaN(status) ? null : status, reason: result.reason, answer };
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error;
    return { ...nothing, rule: 'unknown', reason: error.message };
  }
}
