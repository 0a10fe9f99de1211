/** To the last @: a password may have one, or a slash, as it is. */
const userPassword = /^(\w+:\/\/[^:@/?#]*):.*@/s;
const passwordParameter = /([?&])password=[^&]*/;

export function hasPassword(url: string): boolean {
  return userPassword.test(url) || passwordParameter.test(url);
}

/** The URL of a database for the screen. */
export function withoutPassword(url: string): string {
  return url.replace(userPassword, '$1@').replace(passwordParameter, '$1password=...');
}
