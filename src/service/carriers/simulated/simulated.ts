import type { Clock } from '../../clock.js';
import { type CarrierFault, carrierFaultFor } from '../../fault-injection/faults.js';
import type { Receipt } from '../../storage/store.js';
import {
  type Carrier,
  type Deferral,
  type Fate,
  noLinkRoute,
  notConnectedCode,
  OutcomeUnknown,
  type Refusal,
  type Submission,
  type SubmitResult,
} from '../carrier.js';
import type { Outbox } from './outbox.js';
import { laneOf, simulatedLanes } from './routes.js';

export interface SimulatedCarrier extends Carrier {
  inquire(reference: string, to: string, before: number): Promise<Fate>;
  readonly outbox: Outbox;
}

/** It accepts everything at once; this limits the memory of the service. */
const capacity = 2_100;
const submitMs = 60_000;
const doubtMs = 300_000;
/** Milliseconds from a delivery to its receipt, and between attempts to deliver one that was not stored. */
const receiptAfter = 500;
const accepted: SubmitResult = { kind: 'accepted', carrierIds: [] };

/** Mobile operators and a mail server that deliver into an outbox, and fail for certain recipients. */
export function simulatedCarrier(
  outbox: Outbox,
  clock: Clock,
  faultFor: (to: string) => CarrierFault | null = carrierFaultFor,
): SimulatedCarrier {
  /** Ends all waits when it stops. */
  const waiting = new Set<() => void>();
  let isStopped = false;
  let onReceipt: (receipt: Receipt) => Promise<void> = async () => {};
  /** By lane, on the monotonic clock. */
  const downUntil = new Map<string, number>();
  /** Pending receipts, each with a function that cancels its timer. */
  const receipts = new Map<Receipt, () => void>();

  function deliver(submission: Submission): Promise<SubmitResult> {
    return outbox.deliver(submission).then((isDelivered) => {
      if (isDelivered) return accepted;
      throw new OutcomeUnknown('a later attempt has fenced this one');
    });
  }

  function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(abandon);
        signal.removeEventListener('abort', abandon);
      };
      const cancel = clock.after(milliseconds, () => {
        leave();
        resolve();
      });
      const abandon = () => {
        cancel();
        leave();
        reject(new OutcomeUnknown('the operator is closing'));
      };
      if (isStopped || signal.aborted) return abandon();
      waiting.add(abandon);
      signal.addEventListener('abort', abandon);
    });
  }

  /** Sends it at once when it stops, since the process may end before a receipt is due. */
  async function sendReceipt(receipt: Receipt): Promise<void> {
    if (isStopped) return onReceipt(receipt).catch(() => {});
    const cancel = clock.after(receiptAfter, () => {
      receipts.delete(receipt);
      // If the store cannot accept it now, it is sent again.
      onReceipt(receipt).catch(() => sendReceipt(receipt));
    });
    receipts.set(receipt, cancel);
  }

  async function submitWith(
    fault: CarrierFault,
    submission: Submission,
    signal: AbortSignal,
  ): Promise<SubmitResult> {
    const { to, route, channel, reference } = submission;
    switch (fault.kind) {
      case 'refused':
        return refusal('the recipient does not accept messages');
      case 'refused_by_operator':
        if (route === noLinkRoute) break;
        return refusal(`${route} does not accept the message`);
      case 'delayed':
        await deliver(submission);
        await delay(fault.milliseconds, signal);
        return accepted;
      case 'submission_lost':
        if (await outbox.isFirst(reference)) throw new OutcomeUnknown('the operator could not be reached');
        break;
      case 'later':
        if (await outbox.isFirst(reference)) return deferral('message');
        break;
      case 'throttled':
        return deferral('rate');
      case 'busy':
        return deferral('message');
      case 'account':
        if (await outbox.isFirst(reference)) return deferral('account');
        break;
      case 'down':
        if (!(await outbox.isFirst(reference))) break;
        downUntil.set(laneOf(channel), clock.monotonic() + fault.milliseconds);
        return deferral('lane');
      case 'receipt':
        await deliver(submission);
        await sendReceipt({
          route,
          carrierId: reference,
          to,
          ...(fault.delivered ? ({ state: 'delivered' } as const) : notDelivered[channel]),
          reference,
          submittedAt: null,
        });
        return { kind: 'accepted', carrierIds: [reference] };
      case 'answer_lost':
      case 'silent':
      case 'undecidable':
        await deliver(submission);
        throw new OutcomeUnknown('the operator did not answer');
    }
    return deliver(submission);
  }

  async function inquire(reference: string, to: string, before: number): Promise<Fate> {
    const age = await outbox.ageOrFence(reference, before);
    if (age === null) return 'not_taken';
    const fault = faultFor(to);
    if (fault?.kind === 'undecidable') return 'undecidable';
    return fault?.kind === 'silent' && isSilent(fault, age) ? 'unknown' : 'taken';
  }

  return {
    lanes: simulatedLanes,
    kind: 'simulated',
    submitMs,
    doubtMs,
    async start(receive) {
      isStopped = false;
      onReceipt = receive;
    },
    async stop() {
      isStopped = true;
      for (const end of [...waiting]) end();
      waiting.clear();
      const due = [...receipts];
      receipts.clear();
      for (const [, cancel] of due) cancel();
      await Promise.allSettled(due.map(([receipt]) => onReceipt(receipt)));
    },
    capacity(lane) {
      const until = downUntil.get(lane);
      return until !== undefined && until > clock.monotonic() ? 0 : capacity;
    },
    // Not asynchronous, because a batch calls it a thousand times.
    submit(submission, signal) {
      const fault = faultFor(submission.to);
      return fault === null ? deliver(submission) : submitWith(fault, submission, signal);
    },
    inquire,
    outbox,
  };
}

const answers = {
  message: ['busy', 'the operator is busy'],
  rate: ['throttled', 'the operator takes no more in a second'],
  account: ['account', 'the operator refuses the account'],
  lane: [notConnectedCode, 'the operator cannot be reached'],
} as const;

/** The codes of what it does not deliver. */
const notDelivered = {
  sms: { state: 'undelivered', code: 'absent' },
  email: { state: 'bounced', code: '5.1.1' },
} as const;

const refusal = (reason: string): Refusal => ({
  kind: 'refused',
  code: 'refused',
  reason,
  tryNextRoute: true,
});

function deferral(scope: Deferral['scope']): Deferral {
  const [code, reason] = answers[scope];
  return { kind: 'later', scope, code, reason };
}

/** A delivery in the future means that the clock was set back: nobody knows how long ago it was. */
function isSilent({ milliseconds }: Extract<CarrierFault, { kind: 'silent' }>, age: number): boolean {
  return age >= 0 && age < milliseconds;
}
