/** How the recipients of an accepted chunk ended. */
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

/** The ends of accepted chunks, as far as they are known: 7 bytes a chunk. */
export class Ends {
  readonly #sent: Uint16Array;
  readonly #failed: Uint16Array;
  readonly #unsure: Uint16Array;
  readonly #final: Uint8Array;

  constructor(chunks: number) {
    this.#sent = new Uint16Array(chunks);
    this.#failed = new Uint16Array(chunks);
    this.#unsure = new Uint16Array(chunks);
    this.#final = new Uint8Array(chunks);
  }

  /** Whether nothing more will become of a chunk. */
  isFinal(chunk: number): boolean {
    return this.#final[chunk] === 1;
  }

  failed(chunk: number): number {
    return this.#failed[chunk] ?? 0;
  }

  /** Gives how the figures of all change when those of a chunk are these. */
  learn(chunk: number, now: End, isFinal: boolean): End {
    const change = {
      sent: now.sent - (this.#sent[chunk] ?? 0),
      failed: now.failed - (this.#failed[chunk] ?? 0),
      unsure: now.unsure - (this.#unsure[chunk] ?? 0),
    };
    this.#sent[chunk] = now.sent;
    this.#failed[chunk] = now.failed;
    this.#unsure[chunk] = now.unsure;
    this.#final[chunk] = Number(isFinal);
    return change;
  }
}
