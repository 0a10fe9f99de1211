import { IdColumn, WordColumn } from '../job/columns.js';
import { isMoved, type Removal, statusOfRemoval } from '../job/counts.js';
import { suppressedCode } from '../plan/reported-rows.js';

export const receiptStatuses = [
  'pending',
  'in_doubt',
  'queued',
  'sent',
  'failed',
  'suppressed',
  'rejected',
  'moved',
] as const;
export type ReceiptStatus = (typeof receiptStatuses)[number];

/** The outcome of one recipient. */
export interface Outcome {
  status: ReceiptStatus;
  /** '' without an error. */
  code: string;
  credits: number | null;
  /** Message id; '' if unknown. */
  id: string;
  /** Null: no delivery report yet; '': the service has no reports. */
  delivery: string | null;
}

/** The outcomes of all recipients, by position: 25 bytes each. */
export class ReceiptColumns {
  readonly #status: Uint8Array;
  readonly #code: WordColumn;
  readonly #delivery: WordColumn;
  readonly #credits: Float32Array;
  readonly #id: IdColumn;

  constructor(recipients: number) {
    this.#status = new Uint8Array(recipients);
    this.#code = new WordColumn(recipients);
    this.#delivery = new WordColumn(recipients);
    this.#credits = new Float32Array(recipients).fill(Number.NaN);
    this.#id = new IdColumn(recipients);
  }

  set(place: number, { status, code, credits, id, delivery }: Outcome): void {
    this.#status[place] = receiptStatuses.indexOf(status);
    this.#code.set(place, code);
    this.#delivery.set(place, delivery ?? '');
    this.#credits[place] = credits ?? Number.NaN;
    this.#id.set(place, id);
  }

  setCode(place: number, code: string): void {
    this.#code.set(place, code);
  }

  get(place: number): Outcome & { delivery: string } {
    const credits = this.#credits[place] ?? Number.NaN;
    const status = receiptStatuses[this.#status[place] ?? 0] ?? 'pending';
    const code = this.#code.get(place);
    return {
      status: status === 'failed' && code === suppressedCode ? 'suppressed' : status,
      code,
      credits: Number.isNaN(credits) ? null : credits,
      id: this.#id.get(place),
      delivery: this.#delivery.get(place),
    };
  }
}

/** For example with the code `moved_to:july-retry`. */
export function outcomeOfRemoval(removal: Removal): Outcome {
  const code = !isMoved(removal) ? removal : removal.to === '' ? 'moved' : `moved_to:${removal.to}`;
  return { ...unknown, status: statusOfRemoval(removal), code };
}

const unknown = { code: '', credits: null, id: '', delivery: '' } as const;
export const inDoubt: Outcome = { ...unknown, status: 'in_doubt' };
