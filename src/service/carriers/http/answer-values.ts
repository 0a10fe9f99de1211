import { wholeTextDecoder } from '../../../contract/index.js';

/** Characters of a text answer that patterns are tried on. */
const lookedAt = 4_096;

/** A gateway's answer, decoded once. */
export interface GatewayAnswer {
  status: number;
  /** Parsed JSON or form; undefined for other answers. */
  fields: unknown;
  /** Its first 4 KB, without blanks and a byte order mark around them. */
  text: string;
  retryAfterMs: number | null;
}

/** `body`: all of it. */
export function decodeAnswer(
  status: number,
  type: string,
  body: string,
  retryAfterMs: number | null,
): GatewayAnswer {
  return { status, fields: fieldsOf(type, body), text: body.slice(0, lookedAt).trim(), retryAfterMs };
}

/** Decodes a body by its byte order mark, else by the charset of its type, else as UTF-8. */
export const decodeBody = (type: string, bytes: Uint8Array): string => decoderOf(type, bytes).decode(bytes);

function decoderOf(type: string, [first, second]: Uint8Array) {
  // JSON in UTF-16 without a mark begins with a zero byte, or has one as its second.
  if ((first === 0xff && second === 0xfe) || second === 0) return wholeTextDecoder('utf-16le');
  if ((first === 0xfe && second === 0xff) || first === 0) return wholeTextDecoder('utf-16be');
  const [, charset = 'utf-8'] = /;\s*charset="?([\w.:-]+)/i.exec(type) ?? [];
  const hasMark = first === 0xef && second === 0xbb;
  try {
    return wholeTextDecoder(hasMark ? 'utf-8' : charset);
  } catch {
    return wholeTextDecoder('utf-8');
  }
}

/** The fields of an answer or a receipt in JSON or a form; undefined for anything else. */
export function fieldsOf(type: string, body: string): unknown {
  // Blanks here include a byte order mark.
  const text = body.trim();
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(type);
  if (isForm && !/^[{[]/.test(text)) return fromForm(text);
  try {
    // Gateways send JSON with any content type.
    return JSON.parse(withWholeIds(text));
  } catch {
    return isForm ? fromForm(text) : undefined;
  }
}

/** The fields of a gateway's request, which may be a form with any content type. */
export async function fieldsOfRequest(type: string, body: string): Promise<unknown> {
  if (/^multipart\/form-data\b/i.test(type)) return fromMultipart(type, body);
  const text = body.trim();
  return fieldsOf(type, text) ?? (/^[^\s<>{}[\]"=&]+=/.test(text) ? fromForm(text) : undefined);
}

/** Undefined if it is none. Files are left out. */
async function fromMultipart(type: string, body: string): Promise<unknown> {
  try {
    const form = await new Response(body, { headers: { 'Content-Type': type } }).formData();
    return fromEntries([...form].filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return undefined;
  }
}

export const fromForm = (body: string): Record<string, string | null> =>
  fromEntries(new URLSearchParams(body));

/** A field that appears twice with different values is left out: nobody knows which one is meant. */
function fromEntries(entries: Iterable<[string, string]>): Record<string, string | null> {
  const fields: Record<string, string | null> = Object.create(null);
  for (const [name, value] of entries) fields[name] = name in fields && fields[name] !== value ? null : value;
  return fields;
}

/** Converts numbers as long as ids to strings, because JSON.parse would round them. */
function withWholeIds(json: string): string {
  if (!/\d{16}/.test(json)) return json;
  // A string without an end is a token too: the rest is not searched again from each of its quotes.
  const stringOrId = /"[^"\\]*(?:\\.[^"\\]*)*"?|(?<![\w.+-])\d{16,}(?![\w.])/g;
  return json.replace(stringOrId, (found) => (found.startsWith('"') ? found : `"${found}"`));
}

/**
 * The values at a dotted path, as text; `*` means every element of an array. An element that lacks the path is null,
 * so a rule about all of them does not match. Without any value, the list is empty.
 */
export function valuesAt(fields: unknown, path: string): (string | null)[] {
  // Most answers have one message, and no array in the path.
  if (path !== '*' && !path.includes('.')) return [textOf(fieldOf(fields, path))];
  let found: unknown[] = [fields];
  for (const step of path.split('.')) {
    found = found.flatMap((value) => {
      if (step === '*') return Array.isArray(value) ? value : [undefined];
      return [fieldOf(value, step)];
    });
  }
  return found.map(textOf);
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
