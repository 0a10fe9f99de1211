/** Up to the last @: a password may contain an unescaped @ or slash. */
const userPassword = /^(\w+:\/\/[^:@/?#]*):.*@/s;
const passwordParameter = /([?&])password=[^&]*(?:&|$)/;

export function hasPassword(url: string): boolean {
  return userPassword.test(url) || passwordParameter.test(url);
}

/** A database URL without its password, to be shown. */
export function withoutPassword(url: string): string {
  const bare = url.replace(userPassword, '$1@');
  return passwordParameter.test(bare) ? bare.replace(passwordParameter, '$1').replace(/[?&]$/, '') : bare;
}
