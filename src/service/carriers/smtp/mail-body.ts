import { Readable } from 'node:stream';

const pieceLength = 16_384;

/** The bytes of a mail. `end` is emitted after the last byte was read and before the final dot is written. */
export class MailBody extends Readable {
  readonly #bytes: Buffer;
  readonly #mayBegin: () => boolean;
  #position = 0;
  /** The last byte was read. */
  isWhole = false;

  /** `mayBegin` is called before the first byte. */
  constructor(bytes: Buffer, mayBegin: () => boolean) {
    super({ highWaterMark: pieceLength });
    this.#bytes = bytes;
    this.#mayBegin = mayBegin;
    this.once('end', () => {
      this.isWhole = true;
    });
  }

  override _read(): void {
    if (this.#position === 0 && !this.#mayBegin()) {
      this.destroy(new Error('it answered DATA with something else than 354'));
      return;
    }
    const piece = this.#bytes.subarray(this.#position, this.#position + pieceLength);
    this.#position += piece.length;
    this.push(piece.length === 0 ? null : piece);
  }
}
