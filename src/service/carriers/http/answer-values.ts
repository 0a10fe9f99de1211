/** Characters of a text answer that patterns are tried on. */
const lookedAt = 4_096;

/** A gateway's answer, decoded once. */
export interface GatewayAnswer {
  status: number;
  /** Parsed JSON or form; undefined for other answers. */
  fields: unknown;
  /** Its first 4 KB. */
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
  return { status, fields: fieldsOf(type, body), text: body.slice(0, lookedAt), retryAfterMs };
}

/** The fields of an answer or a receipt in JSON or a form; undefined for anything else. */
export function fieldsOf(type: string, body: string): unknown {
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return fromForm(body);
  try {
    // Gateways send JSON with any content type.
    return JSON.parse(withWholeIds(body));
  } catch {
    return undefined;
  }
}

/** A field that appears twice with different values is left out: nobody knows which one is meant. */
export function fromForm(body: string): Record<string, string | null> {
  const fields: Record<string, string | null> = Object.create(null);
  for (const [name, value] of new URLSearchParams(body))
    fields[name] = name in fields && fields[name] !== value ? null : value;
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
