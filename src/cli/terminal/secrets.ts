/** What a key of the service looks like: one that is given in the wrong place is known by it. */
const keyLike = /urtuu_[0-9A-Za-z]{20,}/g;

/** Keeps keys out of what is said, whoever says it: an error of a proxy may quote what it was sent. */
export class Secrets {
  readonly #known = new Set<string>();

  add(secret: string): void {
    // What is shorter would be hidden where it means something else.
    if (secret.length >= 8) this.#known.add(secret);
  }

  hide(text: string): string {
    let hidden = text.replace(keyLike, 'urtuu_***');
    for (const secret of this.#known) hidden = hidden.replaceAll(secret, '***');
    return hidden;
  }
}
