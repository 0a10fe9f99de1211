/** Up to the last @: a password may contain an unescaped @ or slash. */
const userPassword = /^(\w+:\/\/[^:@/?#]*):.*@/s;
const passwordParameters = /(?<=[?&])password=[^&]*(?:&|$)/g;

export function hasPassword(url: string): boolean {
  return withoutPassword(url) !== url;
}

/** A database URL without its password, to be shown. */
export function withoutPassword(url: string): string {
  const bare = url.replace(userPassword, '$1@').replace(passwordParameters, '');
  return bare === url ? url : bare.replace(/[?&]$/, '');
}
