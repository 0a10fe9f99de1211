import type { OwnedContext } from './create-context.js';
import { isAccepted } from './network/exchange.js';
import type { EndSignal } from './platform/signals.js';
import type { ProcessEnvironment } from './process-environment.js';

/** A command's hint for a send in doubt; undefined if it has none. */
type HintOfDoubt = (key: string | null) => string | undefined;

/** Ends a run after a signal: at once, or when the command that holds signals has finished. */
export class Interruption {
  /** The first signal. */
  received: EndSignal | undefined;
  /** The signal that ends the run before its command returns. */
  ending: EndSignal | undefined;
  /** Resolves when the run must end before its command returns. */
  readonly ended: Promise<EndSignal>;
  readonly #environment: ProcessEnvironment;
  readonly #context: OwnedContext;
  readonly #hintOf: HintOfDoubt;
  #end: (signal: EndSignal) => void = () => {};
  #isOver = false;
  #unwatch = () => {};

  constructor(environment: ProcessEnvironment, context: OwnedContext, hintOf: HintOfDoubt) {
    this.#environment = environment;
    this.#context = context;
    this.#hintOf = hintOf;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  watch(): void {
    this.#unwatch = this.#environment.onSignal(
      (signal) => this.#onSignal(signal),
      () => this.#context.hangUp(),
    );
  }

  ignore(): void {
    this.#isOver = true;
    this.#unwatch();
  }

  #onSignal(signal: EndSignal): void {
    // Closing a terminal can send several SIGHUPs.
    const isRepeated = this.received !== undefined && signal !== 'SIGHUP';
    this.received ??= signal;
    const { held } = this.#context;
    if (held === null || isRepeated) {
      warnOfPendingSend(this.#context, this.#hintOf);
      this.ending = this.received;
      this.#end(this.received);
    } else if (signal !== 'SIGINT') {
      void this.#environment.clock.sleep(held).then(() => {
        if (!this.#isOver) warnOfPendingSend(this.#context, this.#hintOf);
        this.#end(signal);
      });
    }
    this.#context.abort(signal);
  }
}

/** A job has last words of its own. */
function warnOfPendingSend(context: OwnedContext, hintOf: HintOfDoubt): void {
  context.notices.stop();
  if (context.sayLastWords()) return;
  const pending = context.network.pendingSend;
  if (pending === null) return;
  const { idempotencyKey: key } = pending;
  const what = key === null ? 'request' : 'message';
  const when = isAccepted(pending)
    ? `before the answer about a ${what} was shown`
    : `while a ${what} was on its way`;
  const own = hintOf(key);
  if (own !== undefined) context.io.warn(`stopped ${when}. ${own}`);
  else if (key === null) context.io.warn(`stopped ${when}; it may have arrived.`);
  else
    context.io.warn(`stopped ${when}; repeat it with --idempotency-key ${key}, which cannot send it twice.`);
}
