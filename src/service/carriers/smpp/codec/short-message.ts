import { tags } from './commands.js';
import type { Pdu } from './pdu.js';

/** 5.2.12: a user data header stands before the text. */
export const hasUserDataHeader = 0x40;

/** The elements of the user data header of a message, and the bytes of its text. */
export function shortMessageOf({ fields, options }: Pdu): { header: Buffer; text: Buffer } {
  const bytes = options.get(tags.messagePayload) ?? fields.short_message ?? Buffer.alloc(0);
  const length = ((fields.esm_class ?? 0) & hasUserDataHeader) === 0 ? 0 : 1 + (bytes[0] ?? 0);
  return { header: bytes.subarray(1, length), text: bytes.subarray(length) };
}

/** 5.2.19. */
export const isUcs2 = (dataCoding: number): boolean => (dataCoding & 0x0c) === 0x08;
