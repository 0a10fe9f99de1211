import { readNumber } from '../../contract/index.js';

/** A fault of the simulated carrier. */
export type CarrierFault =
  /** No route accepts the message. */
  | { kind: 'refused' }
  /** Its operator refuses it; the route without links accepts it. */
  | { kind: 'refused_by_operator' }
  /** Accepted, with a late answer. */
  | { kind: 'delayed'; milliseconds: number }
  /** Accepted, but the answer is lost. */
  | { kind: 'answer_lost' }
  /** Like `answer_lost`, and for some time `inquire` cannot tell either. */
  | { kind: 'silent'; milliseconds: number }
  /** The first submission is lost before the operator; the next one arrives. */
  | { kind: 'submission_lost' }
  /** The first submission is deferred; the next one arrives. */
  | { kind: 'later' }
  /** Every submission is deferred: for the rate, or for no known reason. */
  | { kind: 'throttled' }
  | { kind: 'busy' }
  /** The first submission gets an answer about the account. */
  | { kind: 'account' }
  /** From its first submission on, the operator cannot be reached for any message. */
  | { kind: 'down'; milliseconds: number }
  /** Accepted, and a receipt says whether it was delivered. */
  | { kind: 'receipt'; delivered: boolean }
  /** Accepted, but the answer is lost and the operator can never confirm it. */
  | { kind: 'undecidable' };

/**
 * A fault of a request. `drop_before`, `drop_after`: the connection is cut before or after the send is accepted.
 * `answer_500`, `answer_429`, `answer_html` (502, the page of a proxy): nothing is stored.
 */
export type RequestFault = 'drop_before' | 'drop_after' | 'answer_500' | 'answer_429' | 'answer_html';

export interface FaultOnDemand {
  /** A message to this number triggers the fault. */
  number: string;
  /** So does an address with this local part; null for a fault of SMS only. */
  localPart: string | null;
  fault: CarrierFault | RequestFault;
  /** One line for people. */
  effect: string;
}

/** Recipients that trigger faults, to test a caller's code. A request fault happens once for an idempotency key. */
export const faultsOnDemand: readonly FaultOnDemand[] = [
  {
    number: '99000001',
    localPart: 'fault-refused',
    fault: { kind: 'refused' },
    effect: 'not accepted: provider_failed, refunded',
  },
  {
    number: '99000002',
    localPart: null,
    fault: { kind: 'refused_by_operator' },
    effect: 'refused by its operator, delivered over the route without links',
  },
  {
    number: '99000003',
    localPart: 'fault-2s',
    fault: { kind: 'delayed', milliseconds: 2_000 },
    effect: 'accepted; the operator answers after 2 seconds',
  },
  {
    number: '99000004',
    localPart: 'fault-10s',
    fault: { kind: 'delayed', milliseconds: 10_000 },
    effect: 'accepted; the operator answers after 10 seconds',
  },
  {
    number: '99000005',
    localPart: 'fault-40s',
    fault: { kind: 'delayed', milliseconds: 40_000 },
    effect: "accepted; the operator answers after 40 seconds, over the client's timeout",
  },
  {
    number: '99000006',
    localPart: 'fault-answer-lost',
    fault: { kind: 'answer_lost' },
    effect: "accepted, but the operator's answer is lost: the service asks, then it is sent",
  },
  {
    number: '99000007',
    localPart: 'fault-silent',
    fault: { kind: 'silent', milliseconds: 30_000 },
    effect: 'accepted, but unknown for 30 seconds: unavailable, then sent',
  },
  {
    number: '99000008',
    localPart: 'fault-hand-over-lost',
    fault: { kind: 'submission_lost' },
    effect: 'lost once on the way to the operator, then accepted',
  },
  {
    number: '99000021',
    localPart: 'fault-delivered',
    fault: { kind: 'receipt', delivered: true },
    effect: 'accepted, then reported as delivered',
  },
  {
    number: '99000022',
    localPart: 'fault-bounced',
    fault: { kind: 'receipt', delivered: false },
    effect: 'accepted, then reported as undelivered (an email: bounced)',
  },
  {
    number: '99000023',
    localPart: 'fault-undecidable',
    fault: { kind: 'undecidable' },
    effect: 'accepted, but the outcome is never known: sent, with delivery unknown',
  },
  {
    number: '99000024',
    localPart: 'fault-later',
    fault: { kind: 'later' },
    effect: 'deferred once by the operator, accepted 5 seconds later',
  },
  {
    number: '99000025',
    localPart: 'fault-throttled',
    fault: { kind: 'throttled' },
    effect: 'throttled at every try: provider_failed after 15 seconds, in a batch or by email after a day',
  },
  {
    number: '99000026',
    localPart: 'fault-busy',
    fault: { kind: 'busy' },
    effect: 'deferred at every try: provider_failed after 15 seconds, in a batch or by email after a day',
  },
  {
    number: '99000027',
    localPart: 'fault-account',
    fault: { kind: 'account' },
    effect: 'the account is refused once, which pauses the lane for a second; accepted 5 seconds later',
  },
  {
    number: '99000028',
    localPart: 'fault-down',
    fault: { kind: 'down', milliseconds: 10_000 },
    effect: 'the operator is down for 10 seconds: its messages wait, then this one is accepted',
  },
  {
    number: '99000011',
    localPart: 'fault-drop-before',
    fault: 'drop_before',
    effect: 'the connection is dropped before anything is done',
  },
  {
    number: '99000012',
    localPart: 'fault-drop-after',
    fault: 'drop_after',
    effect: 'sent, but the connection is dropped before the answer',
  },
  {
    number: '99000013',
    localPart: 'fault-500',
    fault: 'answer_500',
    effect: 'HTTP 500, nothing is done',
  },
  {
    number: '99000014',
    localPart: 'fault-429',
    fault: 'answer_429',
    effect: 'HTTP 429 rate_limited, nothing is done',
  },
  {
    number: '99000015',
    localPart: 'fault-html',
    fault: 'answer_html',
    effect: 'an HTML page with HTTP 502, as from a proxy; nothing is done',
  },
];

const byNumber = new Map(faultsOnDemand.map((row) => [row.number, row.fault]));
const byLocalPart = new Map(faultsOnDemand.map((row) => [row.localPart, row.fault]));

function faultByLocalPart(address: string): FaultOnDemand['fault'] | undefined {
  const at = address.lastIndexOf('@');
  return at < 0 ? undefined : byLocalPart.get(address.slice(0, at));
}

/** The carrier fault for a recipient in normal form. */
export function carrierFaultFor(to: string): CarrierFault | null {
  const fault = byNumber.get(to) ?? faultByLocalPart(to);
  return typeof fault === 'object' ? fault : null;
}

/** The request fault for a recipient as the caller wrote it. */
export function requestFaultFor(written: string): RequestFault | null {
  const reading = readNumber(written);
  const fault = reading.kind === 'number' ? byNumber.get(reading.number) : faultByLocalPart(written);
  return typeof fault === 'string' ? fault : null;
}
