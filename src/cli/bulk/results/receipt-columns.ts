export const receiptStatuses = [
  'pending',
  'in_doubt',
  'queued',
  'sent',
  'failed',
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

const mostWords = 1_000;

/** The outcomes of all recipients, by position: about 20 bytes each. */
export class ReceiptColumns {
  readonly #status: Uint8Array;
  readonly #code: Uint16Array;
  readonly #delivery: Uint16Array;
  readonly #credits: Float32Array;
  readonly #ids: Buffer;
  readonly #oddIds = new Map<number, string>();
  readonly #words = [''];

  constructor(recipients: number) {
    this.#status = new Uint8Array(recipients);
    this.#code = new Uint16Array(recipients);
    this.#delivery = new Uint16Array(recipients);
    this.#credits = new Float32Array(recipients).fill(Number.NaN);
    this.#ids = Buffer.alloc(recipients * 16);
  }

  set(place: number, { status, code, credits, id, delivery }: Outcome): void {
    this.#status[place] = receiptStatuses.indexOf(status);
    this.#credits[place] = credits ?? Number.NaN;
    this.#delivery[place] = this.#numberOf(delivery ?? '');
    this.setCode(place, code);
    this.#writeId(place, id);
  }

  setCode(place: number, code: string): void {
    this.#code[place] = this.#numberOf(code);
  }

  get(place: number): Outcome {
    const credits = this.#credits[place] ?? Number.NaN;
    return {
      status: receiptStatuses[this.#status[place] ?? 0] ?? 'pending',
      code: this.#words[this.#code[place] ?? 0] ?? '',
      credits: Number.isNaN(credits) ? null : credits,
      id: this.#readId(place),
      delivery: this.#words[this.#delivery[place] ?? 0] ?? '',
    };
  }

  /** If a service invents a new word for each row, those beyond the limit are dropped. */
  #numberOf(word: string): number {
    const known = this.#words.indexOf(word);
    if (known !== -1) return known;
    return this.#words.length < mostWords ? this.#words.push(word) - 1 : 0;
  }

  #writeId(place: number, id: string): void {
    const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id);
    this.#ids.write(isUuid ? id.replaceAll('-', '') : '0'.repeat(32), place * 16, 'hex');
    if (isUuid || id === '') this.#oddIds.delete(place);
    else this.#oddIds.set(place, id);
  }

  #readId(place: number): string {
    const hex = this.#ids.toString('hex', place * 16, place * 16 + 16);
    if (/^0*$/.test(hex)) return this.#oddIds.get(place) ?? '';
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}
