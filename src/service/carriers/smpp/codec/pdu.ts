import {
  type Command,
  commandIds,
  commandOf,
  type Fields,
  isResponse,
  layouts,
  statuses,
} from './commands.js';

export const headerLength = 16;

/** A protocol data unit. Missing mandatory parameters are sent empty or as 0. */
export interface Pdu {
  command: Command;
  status: number;
  sequence: number;
  fields: Partial<Fields>;
  /** Optional parameters by tag; the last one wins. */
  options: ReadonlyMap<number, Buffer>;
}

/** A PDU with a valid length and invalid contents. */
export class MalformedPdu extends Error {
  override readonly name = 'MalformedPdu';
  readonly sequence: number;
  /** Null for an unknown command. */
  readonly command: Command | null;

  constructor(message: string, command: Command | null, sequence: number) {
    super(message);
    this.command = command;
    this.sequence = sequence;
  }
}

export const noOptions: ReadonlyMap<number, Buffer> = new Map();

/** Throws RangeError for a string with a NUL or a short message over 255 bytes. */
export function encodePdu({ command, status, sequence, fields, options }: Pdu): Buffer {
  // A response that refuses has no body.
  const layout = status !== statuses.ok && isResponse(command) ? [] : layouts[command];
  let length = headerLength;
  for (const { name, kind } of layout) {
    if (kind === 'byte') length += 1;
    else if (kind === 'string') length += Buffer.byteLength((fields[name] as string) ?? '', 'latin1') + 1;
    else length += ((fields[name] as Buffer)?.length ?? 0) + 1;
  }
  for (const value of options.values()) length += 4 + value.length;
  const pdu = Buffer.alloc(length);
  pdu.writeUInt32BE(length, 0);
  pdu.writeUInt32BE(commandIds[command], 4);
  pdu.writeUInt32BE(status, 8);
  pdu.writeUInt32BE(sequence, 12);
  let at = headerLength;
  for (const { name, kind } of layout) {
    if (kind === 'byte') at = pdu.writeUInt8((fields[name] as number) ?? 0, at);
    else if (kind === 'string') {
      const value = (fields[name] as string) ?? '';
      if (value.includes('\0')) throw new RangeError(`${name}: must not contain U+0000`);
      at += pdu.write(value, at, 'latin1') + 1;
    } else {
      const value = (fields[name] as Buffer) ?? Buffer.alloc(0);
      at = pdu.writeUInt8(value.length, at);
      at += value.copy(pdu, at);
    }
  }
  for (const [tag, value] of options) {
    at = pdu.writeUInt16BE(tag, at);
    at = pdu.writeUInt16BE(value.length, at);
    at += value.copy(pdu, at);
  }
  return pdu;
}

/** Decodes a complete PDU. Throws MalformedPdu. A response, which cannot be answered, is read as far as possible. */
export function decodePdu(pdu: Buffer): Pdu {
  const command = commandOf(pdu.readUInt32BE(4)) ?? null;
  const sequence = pdu.readUInt32BE(12);
  if (command === null) throw new MalformedPdu('unknown command', null, sequence);
  const decoded: Pdu = { command, status: pdu.readUInt32BE(8), sequence, fields: {}, options: noOptions };
  try {
    readBody(pdu, decoded);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    if (!isResponse(command)) throw new MalformedPdu(error.message, command, sequence);
  }
  return decoded;
}

function readBody(pdu: Buffer, decoded: Pdu): void {
  const fields: Partial<Record<keyof Fields, string | number | Buffer>> = decoded.fields;
  let at = headerLength;
  // A response that refuses may have no body.
  if (pdu.length === at && isResponse(decoded.command)) return;
  for (const { name, kind } of layouts[decoded.command]) {
    if (kind === 'byte') {
      fields[name] = pdu.readUInt8(at);
      at += 1;
    } else if (kind === 'string') {
      const end = pdu.indexOf(0, at);
      // Some centres leave out the NUL of a message id.
      fields[name] = pdu.toString('latin1', at, end < 0 ? pdu.length : end);
      if (end < 0) throw new RangeError(`${name} has no end`);
      at = end + 1;
    } else {
      const length = pdu.readUInt8(at);
      fields[name] = bytesOf(pdu, at + 1, length);
      at += 1 + length;
    }
  }
  if (at === pdu.length) return;
  const options = new Map<number, Buffer>();
  decoded.options = options;
  while (at < pdu.length) {
    const length = pdu.readUInt16BE(at + 2);
    options.set(pdu.readUInt16BE(at), bytesOf(pdu, at + 4, length));
    at += 4 + length;
  }
}

function bytesOf(pdu: Buffer, start: number, length: number): Buffer {
  if (start + length > pdu.length) throw new RangeError('a value ends after its PDU');
  return pdu.subarray(start, start + length);
}
