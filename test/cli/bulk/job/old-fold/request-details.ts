import type { MessageFigures } from '../../../../../src/cli/bulk/job/journal/entries.js';

/** The result of a request beyond its phase; too large to keep for a million requests. */
export interface RequestDetails {
  /** Batch or message id; '' if there is none. */
  id: string;
  /** Null until it was accepted. */
  kind: 'single' | 'batch' | null;
  credits: number | null;
  /** Why it was not accepted, or its messages failed; '' if there is no error. */
  code: string;
  /** The final figures, as reported by the service. */
  final: MessageFigures | null;
}

/** Selects the requests whose details are kept; called after each change. */
export type DetailFilter = (details: RequestDetails) => boolean;

export const everyRequest: DetailFilter = () => true;

const none: RequestDetails = { id: '', kind: null, credits: null, code: '', final: null };

/** The details of the requests that a filter selects. */
export class DetailsStore {
  readonly #filter: DetailFilter | null;
  readonly #kept = new Map<number, RequestDetails>();

  /** Null keeps nothing. */
  constructor(filter: DetailFilter | null) {
    this.#filter = filter;
  }

  update(request: number, change: Partial<RequestDetails>): void {
    if (this.#filter === null) return;
    const details = { ...(this.#kept.get(request) ?? none), ...change };
    if (this.#filter(details)) this.#kept.set(request, details);
    else this.#kept.delete(request);
  }

  of(request: number): RequestDetails {
    return this.#kept.get(request) ?? none;
  }

  /** In the order in which they were first added. */
  all(): Iterable<[request: number, details: RequestDetails]> {
    return this.#kept;
  }
}
