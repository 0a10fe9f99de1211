/** How the recipients of an accepted request ended. */
export interface End {
  sent: number;
  failed: number;
  /** Those of whom nobody says whether they were sent to. */
  unsure: number;
}

export const noEnd: End = { sent: 0, failed: 0, unsure: 0 };

/** The end of so many recipients. What the figures have too few, or too many, nobody knows the end of. */
export function endOf(recipients: number, sent: number, failed: number): End {
  const [haveSent, haveFailed] = [wholeOf(sent), wholeOf(failed)];
  const unsure = Math.min(recipients, Math.abs(recipients - haveSent - haveFailed));
  const certainlyFailed = Math.min(haveFailed, recipients - unsure);
  return { sent: recipients - unsure - certainlyFailed, failed: certainlyFailed, unsure };
}

/** A figure of a service as a number of messages; what is none says nothing of any. */
const wholeOf = (figure: number) => (Number.isSafeInteger(figure) && figure > 0 ? figure : 0);

/** The ends of accepted requests, as far as they are known: 7 bytes a request. */
export class Ends {
  readonly #sent: Uint16Array;
  readonly #failed: Uint16Array;
  readonly #unsure: Uint16Array;
  readonly #final: Uint8Array;

  constructor(requests: number) {
    this.#sent = new Uint16Array(requests);
    this.#failed = new Uint16Array(requests);
    this.#unsure = new Uint16Array(requests);
    this.#final = new Uint8Array(requests);
  }

  /** Whether nothing more will become of a request. */
  isFinal(request: number): boolean {
    return this.#final[request] === 1;
  }

  failed(request: number): number {
    return this.#failed[request] ?? 0;
  }

  /** Gives how the figures of all change when those of a request are these. */
  learn(request: number, now: End, isFinal: boolean): End {
    const change = {
      sent: now.sent - (this.#sent[request] ?? 0),
      failed: now.failed - (this.#failed[request] ?? 0),
      unsure: now.unsure - (this.#unsure[request] ?? 0),
    };
    this.#sent[request] = now.sent;
    this.#failed[request] = now.failed;
    this.#unsure[request] = now.unsure;
    this.#final[request] = Number(isFinal);
    return change;
  }
}
