const placeholder = '[API key]';
/** A shorter key is not a secret, and removing it would garble other words. */
const shortestSecret = 8;

/** Removes the API key from answers and errors. */
export interface Redactor {
  text(text: string): string;
  /** Parses JSON and removes the key from names and values. Throws when it is not JSON. */
  json(text: string): unknown;
  /** The error of a fetch, or a copy without the details that contain the key. */
  cause(error: unknown): unknown;
}

export function redactorOf(apiKey: string): Redactor {
  if (apiKey.length < shortestSecret) {
    return { text: (text) => text, json: (text) => JSON.parse(text), cause: (error) => error };
  }
  const forms = [...new Set([apiKey, encodeURIComponent(apiKey)])];
  const hasKey = (text: string) => forms.some((form) => text.includes(form));
  const hidden = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, placeholder), text);
  return {
    text: hidden,
    json(text) {
      const value: unknown = JSON.parse(text);
      // An escape sequence may hide the key.
      if (!hasKey(text) && !text.includes('\\')) return value;
      if (typeof value === 'string') return hidden(value);
      if (isContainer(value)) hideIn(value, hasKey, hidden);
      return value;
    },
    cause: (error) => (mentions(error, hasKey) ? withoutDetails(error, hidden) : error),
  };
}

/** Includes arrays. */
const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Not recursive: an answer may be nested too deeply for the stack. */
function hideIn(
  root: Record<string, unknown>,
  hasKey: (text: string) => boolean,
  hidden: (text: string) => string,
) {
  const open = [root];
  for (let record = open.pop(); record !== undefined; record = open.pop()) {
    for (const [name, value] of Object.entries(record)) {
      if (isContainer(value)) open.push(value);
      const text = typeof value === 'string' && hasKey(value);
      if (hasKey(name)) delete record[name];
      else if (!text) continue;
      // Defined, not assigned: a name can be `__proto__`.
      Object.defineProperty(record, hidden(name), {
        value: text ? hidden(value) : value,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
  }
}

const maxParts = 2_000;

/** A Map, Headers ... */
const isCollection = (part: object): part is Iterable<unknown> =>
  Symbol.iterator in part && 'forEach' in part && typeof part.forEach === 'function';

function mentions(error: unknown, hasKey: (text: string) => boolean): boolean {
  const seen = new Set<unknown>();
  const open: unknown[] = [error];
  try {
    while (open.length > 0 && seen.size < maxParts) {
      const part = open.pop();
      if (typeof part === 'string' && hasKey(part)) return true;
      if (!isContainer(part) || seen.has(part) || ArrayBuffer.isView(part)) continue;
      seen.add(part);
      // Not by instanceof: they may be of another realm.
      if ('stack' in part) open.push(part.stack);
      if (isCollection(part)) open.push(...[...part].flat());
      for (const name of Reflect.ownKeys(part)) {
        open.push(name, Object.getOwnPropertyDescriptor(part, name)?.value);
      }
    }
    return false;
  } catch {
    // A part that throws may contain the key.
    return true;
  }
}

function withoutDetails(error: unknown, hidden: (text: string) => string): Error {
  const { name, message, code } = (isContainer(error) ? error : {}) as Partial<Record<string, unknown>>;
  const clean = new Error(typeof message === 'string' ? hidden(message) : 'the request failed');
  if (typeof name === 'string') clean.name = hidden(name);
  return typeof code === 'string' ? Object.assign(clean, { code: hidden(code) }) : clean;
}
