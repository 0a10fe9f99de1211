import { InvalidArgumentError } from 'commander';
import { usageError } from '../../errors.js';

export type Field = readonly [name: string, value: unknown];
export type Header = readonly [name: string, value: string];

const splitAt = (written: string, sign: string): [string, string] | null => {
  const at = written.indexOf(sign);
  return at < 1 ? null : [written.slice(0, at).trim(), written.slice(at + 1)];
};

/** `name=value`, a text. */
export function readTextField(written: string, fields: readonly Field[] = []): Field[] {
  const field = splitAt(written, '=');
  if (field === null) throw new InvalidArgumentError('write name=value');
  return [...fields, field];
}

/** `name=json`: a number, true, null, a list. */
export function readJsonField(written: string, fields: readonly Field[] = []): Field[] {
  const [name, json] = splitAt(written, '=') ?? [];
  if (name === undefined || json === undefined) throw new InvalidArgumentError('write name=json');
  try {
    return [...fields, [name, JSON.parse(json)]];
  } catch {
    throw new InvalidArgumentError(`the value of ${name} is not JSON; -f sends it as text`);
  }
}

/** `Name: value` */
export function readHeaderOption(written: string, headers: readonly Header[] = []): Header[] {
  const [name, rest = ''] = splitAt(written, ':') ?? [];
  if (name === undefined || !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(rest)) {
    throw new InvalidArgumentError('write Name: value, in ASCII');
  }
  if (/^(?:authorization|host|content-length|transfer-encoding|connection)$/i.test(name)) {
    throw new InvalidArgumentError(`${name} is set by urtuu`);
  }
  if (/^idempotency-key$/i.test(name)) throw new InvalidArgumentError('use --idempotency-key');
  return [...headers, [name, rest.trim()]];
}

export function readMethod(written: string): 'GET' | 'POST' {
  const method = written.toUpperCase();
  if (method === 'GET' || method === 'POST') return method;
  throw new InvalidArgumentError(`'${written}' is not one of GET, POST`);
}

/** The path relative to the base URL, with its query. Throws CliError (exit 2) for one that leads elsewhere. */
export function pathBehind(baseUrl: string | null, written: string): string {
  const path =
    baseUrl !== null && written.startsWith(`${baseUrl}/`)
      ? written.slice(baseUrl.length)
      : `/${written.replace(/^\/?v1\//, '')}`;
  const typed = /^[a-z]:[\\/].*?(\/v1\/.*)/i.exec(written)?.[1];
  if (typed !== undefined)
    throw usageError(
      `Git Bash turned ${typed} into '${written}'`,
      `Leave out the first slash: ${typed.slice(1)}`,
    );
  const [, route = ''] = /^\/([^?]+)/.exec(path) ?? [];
  const isPlain = /^[\x21-\x7e]+$/.test(path) && !/[\\#]/.test(path);
  // `/balance`, `//host` and `https://host`, which are not relative.
  const isElsewhere = /^(?:\/|[a-z][a-z0-9+.-]*:)/i.test(route);
  const leadsUp = route.split('/').some((step) => /^(?:\.|%2e){1,2}$/i.test(step));
  if (route === '' || !isPlain || isElsewhere || leadsUp) {
    throw usageError(`'${written}' is not a path of the service`, 'Write /v1/balance, or balance.');
  }
  return path;
}

/** Adds the fields to the query of a path. */
export function withQuery(path: string, fields: readonly Field[]): string {
  if (fields.length === 0) return path;
  const query = new URLSearchParams();
  for (const [name, value] of fields) {
    query.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/** The fields as a JSON object. Throws CliError (exit 2) for a repeated name. */
export function bodyOf(fields: readonly Field[]): string {
  const names = fields.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw usageError(`the field ${twice} appears twice`, 'Give a list with -F.');
  return JSON.stringify(Object.fromEntries(fields));
}
