/** The recipients of an accepted request by their final status. */
export interface Finals {
  sent: number;
  failed: number;
  /** Their status is not known, and will not be. */
  unsure: number;
}

export const noFinals: Finals = { sent: 0, failed: 0, unsure: 0 };

/** Of so many recipients. Figures that add up to fewer, or more, leave the difference unsure. */
export function finalsOf(recipients: number, sent: number, failed: number): Finals {
  const [haveSent, haveFailed] = [countOf(sent), countOf(failed)];
  const unsure = Math.min(recipients, Math.abs(recipients - haveSent - haveFailed));
  const certainlyFailed = Math.min(haveFailed, recipients - unsure);
  return { sent: recipients - unsure - certainlyFailed, failed: certainlyFailed, unsure };
}

/** Anything but a count, in the answer of a service, counts nothing. */
const countOf = (figure: number) => (Number.isSafeInteger(figure) && figure > 0 ? figure : 0);

/** The final figures of accepted requests, as far as they are known: 7 bytes a request. */
export class FinalFigures {
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

  isFinal(request: number): boolean {
    return this.#final[request] === 1;
  }

  failed(request: number): number {
    return this.#failed[request] ?? 0;
  }

  unsure(request: number): number {
    return this.#unsure[request] ?? 0;
  }

  /** Gives the change to the figures of all requests. */
  set(request: number, now: Finals, isFinal: boolean): Finals {
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
