/** Scheme; user and password, up to the last @ before a path; the rest of the authority; path; parameters. */
const parts = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?$/;
const oneHost = /^(?:\[[^\]]*\]|[^:,[\]]*)(?::\d*)?$/;
/** Parameters whose values may have an @ as it is. */
const mayHaveAt = /^(?:user|password|host|dbname|application_name|options|ssl[a-z]+)=/;

/** Why the driver would read another address than the one that was meant, and the way out; null for a usable URL. */
export function urlProblem(url: string): [problem: string, hint: string] | null {
  if (!/^postgres(?:ql)?:\/\//.test(url) || /\p{Cc}/u.test(url))
    return ['is not the URL of a database', 'Write it as postgres://user@host/name.'];
  const [, , , host = '', path = '', query = ''] = parts.exec(url) ?? [];
  const strays = [path, ...query.split('&').filter((each) => !mayHaveAt.test(each))].join('');
  if (host.includes(',') && !strays.includes('@'))
    return ['names several hosts', 'Give one address that follows the primary.'];
  if (parts.test(url) && oneHost.test(host) && !strays.includes('@')) return null;
  return [
    'is not the URL of a database',
    'Write it as postgres://user:password@host:5432/name, and in the password % as %25, @ as %40, / as %2F, # as %23, ? as %3F; or put the password in PGPASSWORD or a pgpass file.',
  ];
}

export function hasPassword(url: string): boolean {
  return withoutPassword(url) !== url;
}

/** A database URL without its password, to be shown. */
export function withoutPassword(url: string): string {
  const [, scheme, login, host, path, query] = parts.exec(url) ?? [];
  if (scheme === undefined) return url;
  const user = login === undefined ? '' : `${login.replace(/(?::|%(?:25)*3a).*$/is, '')}@`;
  const kept = query?.split('&').filter((each) => !isPassword(each));
  const isBare = kept === undefined || (kept.length === 0 && query !== '');
  return `${scheme}${user}${withoutStray(host)}${withoutStray(path)}${isBare ? '' : `?${kept.join('&')}`}`;
}

/** Also one that a wrong separator puts into the parameter before it. */
function isPassword(parameter: string): boolean {
  const [[name, value] = ['', '']] = new URLSearchParams(parameter);
  return /password *=|^user=.*:/is.test(`${name}=${value}`);
}

/** A part of the address without parameters that a wrong separator has put there. */
function withoutStray(part = ''): string {
  const at = part.search(/[;&]|%3b|%26/i);
  return at !== -1 && /password *(?:=|%3d)/i.test(part.slice(at)) ? part.slice(0, at) : part;
}
