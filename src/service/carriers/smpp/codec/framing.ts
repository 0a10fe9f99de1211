import { headerLength } from './pdu.js';

/** Bytes; the largest PDU of SMPP 3.4 has one optional parameter of 64 KiB. */
export const maxPduLength = 70_000;

/** A length that no PDU has: the start of the next one is unknown. */
export class LostFraming extends Error {
  override readonly name = 'LostFraming';
}

/** Splits a stream of bytes into PDUs, however they arrive. */
export class Framing {
  #pending: Buffer[] = [];
  #length = 0;

  /** Passes complete PDUs to `onPdu`. Throws LostFraming after the last of them. */
  push(bytes: Buffer, onPdu: (pdu: Buffer) => void): void {
    this.#pending.push(bytes);
    this.#length += bytes.length;
    if (this.#length < 4) return;
    let data = this.#head(4);
    if (this.#length < lengthAt(data, 0)) return;
    data = this.#head(this.#length);
    let at = 0;
    while (data.length - at >= 4) {
      const length = lengthAt(data, at);
      if (data.length - at < length) break;
      onPdu(data.subarray(at, at + length));
      at += length;
    }
    this.#pending = at < data.length ? [data.subarray(at)] : [];
    this.#length = data.length - at;
  }

  /** One buffer with at least that many bytes, so that bytes arriving one by one are not copied each time. */
  #head(bytes: number): Buffer {
    const [first] = this.#pending;
    if (first !== undefined && first.length >= bytes) return first;
    const whole = Buffer.concat(this.#pending);
    this.#pending = [whole];
    return whole;
  }
}

function lengthAt(data: Buffer, at: number): number {
  const length = data.readUInt32BE(at);
  if (length < headerLength || length > maxPduLength)
    throw new LostFraming(`it does not speak SMPP: a PDU cannot have ${length} bytes`);
  return length;
}
