/** Replaces secrets in a text, however a carrier that repeats them encodes them. */
export function withoutSecrets(secrets: readonly string[], mark = '…'): (text: string) => string {
  const spellings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
  ]);
  // A secret may start with another one.
  const all = [...new Set(spellings)].sort((one, other) => other.length - one.length);
  return (text) => all.reduce((shown, spelling) => shown.replaceAll(spelling, mark), text);
}
