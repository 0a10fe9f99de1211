/** A page of the manual, in the man macros. */
export class Page {
  readonly #lines: string[];

  constructor(name: string, section: number, version: string, summary: string) {
    this.#lines = [
      `.TH "${name.toUpperCase()}" "${section}" "" "urtuu ${version}" "urtuu manual"`,
      '.SH NAME',
      `${escaped(name)} \\- ${escaped(summary)}`,
    ];
  }

  heading(title: string): this {
    this.#lines.push(`.SH ${escaped(title.toUpperCase())}`);
    return this;
  }

  paragraph(text: string): this {
    this.#lines.push('.PP', escaped(text));
    return this;
  }

  /** A term in bold with its description below. */
  item(term: string, description: string): this {
    this.#lines.push('.TP', `\\fB${escaped(term)}\\fR`, escaped(description));
    return this;
  }

  /** Lines as they are. */
  verbatim(lines: readonly string[]): this {
    this.#lines.push('.PP', '.nf', ...lines.map(escaped), '.fi');
    return this;
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

/** Text that no line of roff takes for a request; hyphens stay hyphens when copied. */
export function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&')
    .replace(/[^\0-\x7f]/gu, (character) => `\\[u${hex(character)}]`);
}

const hex = (character: string) =>
  (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
