import type { Clock } from '../../clock.js';
import type { Random } from '../../random.js';
import type { Report } from '../../report.js';
import type { RouteDays, RouteRates } from '../../storage/route-limits.js';
import {
  type Carrier,
  emailLane,
  emailRoute,
  notConnectedCode,
  type Reservation,
  type RoutesOf,
  type Submission,
  type SubmitResult,
} from '../carrier.js';
import { RateWindow } from '../rate/rate-window.js';
import { longestSubmitMs, type Mail, openMs } from './connection.js';
import { Connections, type Lent } from './connections.js';
import { composeMail, NotReady, type Sender } from './mail.js';
import { MailDay } from './mail-day.js';
import { RelayCapacity } from './relay-capacity.js';
import type { SmtpSettings } from './smtp-settings.js';

export interface SmtpParts {
  settings: SmtpSettings;
  /** Signs the addresses that bounces go to. */
  bounceKey: Uint8Array;
  limits: RouteRates;
  /** For a relay with a limit of a day. */
  days?: RouteDays;
  clock: Clock;
  random: Random;
  report: Report;
}

const doubtMs = 900_000;
/** Room for single mails at any rate: they go before those of batches, which are claimed by the second. */
const fewestMails = 10;
const notConnected: SubmitResult = {
  kind: 'later',
  reason: 'its relay cannot be reached',
  code: notConnectedCode,
  scope: 'lane',
};

const onlyRoute = [{ name: emailRoute, lane: emailLane, carriesLinks: true }] as const;

export const emailRoutes: RoutesOf = () => onlyRoute;

/** A mail relay over SMTP. */
export function smtpCarrier(parts: SmtpParts): Carrier {
  const { settings, bounceKey, clock, report } = parts;
  const { from, bounceDomain, perSecond, perDay } = settings;
  const sender: Sender = {
    from,
    bounces: bounceDomain === null ? null : { key: bounceKey, domain: bounceDomain },
  };
  const connections = new Connections(parts);
  const relay = new RelayCapacity(settings.connections, clock);
  const rate =
    perSecond === null ? null : new RateWindow({ ...parts, route: { name: emailRoute, perSecond } });
  const mailbox = `${settings.login?.user ?? from} ${settings.host}`;
  const day =
    perDay === null || parts.days === undefined
      ? null
      : new MailDay({ ...parts, mailbox, perDay, days: parts.days });
  const unlimited = Number.POSITIVE_INFINITY;

  /** A mail of which a connection that was used before brought nothing to the relay goes over a new one, once. */
  async function submitMail(lent: Lent, mail: Mail, signal: AbortSignal): Promise<SubmitResult> {
    const begun = clock.monotonic();
    const { connection } = lent;
    const first = connection.isOpen ? await connection.submit(mail, signal) : null;
    if (first !== null) return first;
    const isNew = await lent.renew(openMs - (clock.monotonic() - begun));
    if (!isNew || signal.aborted) return notConnected;
    return (await lent.connection.submit(mail, signal)) ?? notConnected;
  }

  async function submitOver(lent: Lent, submission: Submission, signal: AbortSignal): Promise<SubmitResult> {
    if (signal.aborted) return notConnected;
    let mail: Mail;
    try {
      mail = await composeMail(submission, sender, clock.now(), (warning) =>
        report(new Error(warning), { level: 'warning' }),
      );
    } catch (error) {
      report(error);
      if (error instanceof NotReady)
        return { kind: 'later', reason: error.message, code: error.code, scope: 'message' };
      return {
        kind: 'refused',
        reason: 'it cannot be written as a mail',
        code: 'not a mail',
        tryNextRoute: false,
      };
    }
    const result = await relay.measure(submitMail(lent, mail, signal));
    // A bounce identifies the message.
    const isExpected = result.kind === 'accepted' && bounceDomain !== null;
    return isExpected ? { ...result, carrierIds: [submission.reference] } : result;
  }

  async function reserve(_route: string, isSingle: boolean): Promise<Reservation | null> {
    if (!connections.isUp) return null;
    const permit = rate && (await rate.wait(isSingle ? 'single' : 'batch'));
    // It may take long until there is a connection: then the rate has gone on.
    permit?.use();
    const lent = rate !== null && permit === null ? null : await connections.take(isSingle);
    const slot = lent && day && (await day.take(!isSingle));
    const release = () => {
      permit?.release();
      lent?.release();
    };
    if (lent === null || (day !== null && slot === null)) {
      release();
      return null;
    }
    let isTaken = false;
    let isEnded = false;
    return {
      async submit(...given) {
        isTaken = true;
        const result = await submitOver(lent, ...given);
        isTaken = result.kind === 'accepted';
        if (result.kind === 'later' && result.isOfDay) day?.reach();
        return result;
      },
      release() {
        if (!isEnded && slot !== null) day?.end(slot, isTaken);
        isEnded = true;
        release();
      },
    };
  }

  return {
    lanes: [emailLane],
    submitMs: openMs + longestSubmitMs,
    doubtMs,
    async start() {
      connections.start();
      rate?.open();
      await day?.start();
    },
    stop() {
      rate?.close();
      day?.stop();
      return connections.stop();
    },
    capacity() {
      const ofRate = rate === null ? unlimited : Math.max(fewestMails, rate.capacity);
      return connections.isUp ? Math.min(relay.window, ofRate, day?.left ?? unlimited) : 0;
    },
    ahead: () =>
      connections.isUp ? Math.min(relay.ahead, rate?.ahead ?? unlimited, day?.leftOfLists ?? unlimited) : 0,
    dayLimit: () => day?.limit ?? null,
    isConnected: () => connections.isConnected,
    reserve,
    async submit(submission, signal) {
      const reservation = await reserve(submission.route, true);
      if (reservation === null) return notConnected;
      return reservation.submit(submission, signal).finally(() => reservation.release());
    },
  };
}
