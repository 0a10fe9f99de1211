import type { MessageError } from '../../contract/index.js';
import type { Administration, FinishAs } from '../administration.js';
import type { OperationContext } from '../operations/context.js';
import { bound, messageAnswer } from '../operations/resources.js';
import { outcomeOfReceipts } from '../storage/dispatching.js';
import type { Outcome } from '../storage/store.js';

/** Messages finished in one transaction. */
const messagesAtOnce = 1_000;
/** For which they are leased meanwhile. */
const leaseMs = 30_000;

const notSent: MessageError = {
  code: 'provider_failed',
  message: 'The owner of the service ended the message, which had no outcome when the service was held',
};
const outcomes: Record<Exclude<FinishAs, 'queue'>, Outcome> = {
  sent: { status: 'sent', carrierIds: [], delivery: 'unknown' },
  failed: { status: 'failed', error: notSent },
};

/** The hold of a service, as its owner controls it. */
export function createHold({
  store,
  newId,
}: Pick<OperationContext, 'store' | 'newId'>): Pick<Administration, 'held' | 'release'> {
  /** Leaves a message alone if its own attempt finishes it meanwhile; a message with receipts was sent. */
  async function finish(outcome: Outcome): Promise<void> {
    for (;;) {
      const unfinished = await store.claimUnfinished({
        token: `release:${newId()}`,
        leaseMs,
        limit: messagesAtOnce,
      });
      if (unfinished.length === 0) return;
      await store.finalizeMessages(
        unfinished.map((claimed) => ({ claimed, outcome: outcomeOfReceipts(claimed) ?? outcome })),
        (message, balance) => bound(messageAnswer(message, balance)),
      );
    }
  }

  return {
    async held() {
      const reason = await store.held();
      return reason === null ? null : { reason, ...(await store.countUnfinished()) };
    },
    async release(finishAs) {
      if ((await store.held()) === null) return false;
      if (finishAs !== 'queue') await finish(outcomes[finishAs]);
      return store.release();
    },
  };
}
