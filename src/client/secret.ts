const shown = '[API key]';
/** Shorter keys are no secrets, and would tear words apart. */
const shortestSecret = 8;

/** Takes the API key out of whatever a service, a proxy or a fetch sends back. */
export interface Redactor {
  text(text: string): string;
  /** JSON text as a value without the key, wherever it stands. Throws where it is not JSON. */
  json(text: string): unknown;
  /** An error of a fetch, or one without the key in its place: it may hold the request and its headers. */
  cause(error: unknown): unknown;
}

export function redactorOf(apiKey: string): Redactor {
  if (apiKey.length < shortestSecret) {
    return { text: (text) => text, json: (text) => JSON.parse(text), cause: (error) => error };
  }
  const forms = [...new Set([apiKey, encodeURIComponent(apiKey)])];
  const holds = (text: string) => forms.some((form) => text.includes(form));
  const hidden = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, shown), text);
  return {
    text: hidden,
    json(text) {
      const value: unknown = JSON.parse(text);
      // Without the key and without an escape there is nothing to look for.
      if (!holds(text) && !text.includes('\\')) return value;
      if (typeof value === 'string') return hidden(value);
      if (isObject(value)) hideIn(value, holds, hidden);
      return value;
    },
    cause: (error) => (mentions(error, holds) ? withoutDetails(error, hidden) : error),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Not recursive: an answer may be nested deeper than the stack is. */
function hideIn(
  root: Record<string, unknown>,
  holds: (text: string) => boolean,
  hidden: (text: string) => string,
) {
  const open = [root];
  for (let record = open.pop(); record !== undefined; record = open.pop()) {
    for (const [name, value] of Object.entries(record)) {
      if (isObject(value)) open.push(value);
      const text = typeof value === 'string' && holds(value);
      if (holds(name)) delete record[name];
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

/** So much of an error is looked at. */
const mostParts = 2_000;

function mentions(error: unknown, holds: (text: string) => boolean): boolean {
  const seen = new Set<unknown>();
  const open: unknown[] = [error];
  try {
    while (open.length > 0 && seen.size < mostParts) {
      const part = open.pop();
      if (typeof part === 'string' && holds(part)) return true;
      if (!isObject(part) || seen.has(part) || ArrayBuffer.isView(part)) continue;
      seen.add(part);
      if (part instanceof Error) open.push(part.stack);
      if (part instanceof Map || part instanceof Headers) open.push(...[...part].flat());
      for (const name of Reflect.ownKeys(part)) {
        open.push(name, Object.getOwnPropertyDescriptor(part, name)?.value);
      }
    }
    return false;
  } catch {
    // What cannot be looked at cannot be shown to be clean.
    return true;
  }
}

function withoutDetails(error: unknown, hidden: (text: string) => string): Error {
  const { name, message, code } = (isObject(error) ? error : {}) as Partial<Record<string, unknown>>;
  const clean = new Error(typeof message === 'string' ? hidden(message) : 'the request failed');
  if (typeof name === 'string') clean.name = hidden(name);
  return typeof code === 'string' ? Object.assign(clean, { code: hidden(code) }) : clean;
}
