/** Gets the elements of a document by their local names: writers choose their own prefixes. */
export interface XmlHandler {
  /** `attribute` gives the value of an attribute by its local name, during the call only. */
  open(name: string, attribute: Attribute): void;
  /** The text between two tags, comments or sections, decoded. */
  text?(value: string): void;
  close?(name: string): void;
  /** Whether the rest of the document can stay unread. */
  readonly done?: boolean;
}

export type Attribute = (name: string) => string | undefined;

/** The document is not the plain XML that workbooks are made of. */
export class XmlFault extends Error {
  override readonly name = 'XmlFault';
}

const deepest = 100;
/** A text or tag without an end would fill the memory. */
const longestToken = 4_000_000;
const equals = 0x3d;
const slash = 0x2f;
const close = 0x3e;
const exclamation = 0x21;
const question = 0x3f;
const colon = 0x3a;
const doubleQuote = 0x22;
const singleQuote = 0x27;
/** No more characters: the token goes on in the next block. */
const unfinished = -1;

/**
 * Scans XML in pieces. The sheet of a full workbook has 180 MB of it and 20 million tags, for which the parsers on npm
 * take two to four times as long. Document types are refused, and so are all entities but those of XML itself.
 */
export class XmlScanner {
  readonly #handler: XmlHandler;
  readonly #open: string[] = [];
  #rest = '';
  #begun = false;
  #name = '';
  #selfClosing = false;
  #count = 0;
  readonly #names: string[] = [];
  readonly #values: string[] = [];
  readonly #attribute: Attribute = (name) => {
    const index = this.#names.indexOf(name);
    return index === -1 || index >= this.#count ? undefined : decoded(this.#values[index] ?? '');
  };

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  write(block: string): void {
    const text = this.#rest === '' ? block : this.#rest + block;
    let at = 0;
    for (;;) {
      const tag = text.indexOf('<', at);
      if (tag === -1 || tag + 1 === text.length) break;
      const end = this.#token(text, at, tag);
      if (end === unfinished) break;
      at = end;
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > longestToken) throw new XmlFault('a text has no end');
  }

  end(): void {
    if (this.#open.length > 0 || !this.#begun || this.#rest.trim() !== '')
      throw new XmlFault('it ends too early');
  }

  /** Reads the text from `at` on and the tag behind it; gives where the tag ends. */
  #token(text: string, at: number, tag: number): number {
    const next = text.charCodeAt(tag + 1);
    if (next === slash) {
      const end = text.indexOf('>', tag);
      if (end === -1) return unfinished;
      this.#characters(text, at, tag);
      this.#closeTag(text.slice(tag + 2, end).trimEnd());
      return end + 1;
    }
    if (next === exclamation || next === question) return this.#declaration(text, at, tag);
    const end = this.#scanTag(text, tag + 1);
    if (end === unfinished) return unfinished;
    this.#characters(text, at, tag);
    this.#openTag();
    return end;
  }

  #openTag(): void {
    if (this.#open.length === 0 && this.#begun) throw new XmlFault('it has two roots');
    this.#begun = true;
    const name = localName(this.#name);
    this.#handler.open(name, this.#attribute);
    if (this.#selfClosing) this.#handler.close?.(name);
    else if (this.#open.push(this.#name) > deepest) throw new XmlFault('its elements are nested too deeply');
  }

  #closeTag(name: string): void {
    if (this.#open.pop() !== name) throw new XmlFault(`</${name.slice(0, 40)}> closes another element`);
    this.#handler.close?.(localName(name));
  }

  #characters(text: string, from: number, to: number): void {
    if (from === to) return;
    const value = decoded(text.slice(from, to));
    if (this.#open.length > 0) this.#handler.text?.(value);
    else if (value.replace('\ufeff', '').trim() !== '') throw new XmlFault('it has text outside of its root');
  }

  #declaration(text: string, at: number, tag: number): number {
    const [begin, end] =
      text.charCodeAt(tag + 1) === question
        ? ['<?', '?>']
        : text.charCodeAt(tag + 2) === 0x5b
          ? ['<![CDATA[', ']]>']
          : ['<!--', '-->'];
    const given = text.slice(tag, tag + begin.length);
    if (given.length < begin.length && begin.startsWith(given)) return unfinished;
    if (given !== begin) throw new XmlFault('it declares a document type');
    const last = text.indexOf(end, tag + begin.length);
    if (last === -1) return unfinished;
    this.#characters(text, at, tag);
    if (end === ']]>' && this.#open.length === 0) throw new XmlFault('it has text outside of its root');
    if (end === ']]>') this.#handler.text?.(oneLineEnd(text.slice(tag + begin.length, last)));
    return last + end.length;
  }

  /** Takes a start tag apart; its name begins at `from`. */
  #scanTag(text: string, from: number): number {
    const length = text.length;
    let at = endOfName(text, from);
    this.#name = text.slice(from, at);
    this.#count = 0;
    for (;;) {
      const before = at;
      while (text.charCodeAt(at) <= 0x20) at += 1;
      if (at >= length) return unfinished;
      const code = text.charCodeAt(at);
      if (code === close || code === slash) {
        if (before === from) throw new XmlFault('a tag has no name');
        this.#selfClosing = code === slash;
        if (!this.#selfClosing) return at + 1;
        if (at + 1 === length) return unfinished;
        if (text.charCodeAt(at + 1) !== close) throw new XmlFault('a tag has a / in its middle');
        return at + 2;
      }
      if (at === before || before === from)
        throw new XmlFault(`the tag ${this.#name.slice(0, 40)} is malformed`);
      at = this.#scanAttribute(text, at);
      if (at === unfinished) return unfinished;
    }
  }

  #scanAttribute(text: string, from: number): number {
    const nameEnd = endOfName(text, from);
    let at = nameEnd;
    while (text.charCodeAt(at) <= 0x20) at += 1;
    if (at >= text.length) return unfinished;
    if (text.charCodeAt(at) !== equals || nameEnd === from) throw new XmlFault('an attribute has no value');
    at += 1;
    while (text.charCodeAt(at) <= 0x20) at += 1;
    if (at >= text.length) return unfinished;
    const quote = text.charCodeAt(at);
    if (quote !== doubleQuote && quote !== singleQuote) throw new XmlFault('an attribute has no quotes');
    const end = text.indexOf(quote === doubleQuote ? '"' : "'", at + 1);
    if (end === -1) return unfinished;
    const name = text.slice(from, nameEnd);
    this.#keep(name, text.slice(at + 1, end));
    return end + 1;
  }

  #keep(written: string, value: string): void {
    // The declaration of a prefix would otherwise be the attribute of that name.
    if (written.startsWith('xmlns')) return;
    const name = localName(written);
    for (let index = 0; index < this.#count; index += 1) {
      if (this.#names[index] === name)
        throw new XmlFault(`an element has two attributes ${name.slice(0, 40)}`);
    }
    if (value.includes('<')) throw new XmlFault('an attribute has a < in it');
    this.#names[this.#count] = name;
    this.#values[this.#count] = value;
    this.#count += 1;
  }
}

/** A name ends at a space, a mark of the tag, or the end of the text. */
function endOfName(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === close || code === slash || code === equals) break;
    if (code === doubleQuote || code === singleQuote || code === 0x3c || code === 0x26) {
      throw new XmlFault('a name has a mark in it');
    }
  }
  return at;
}

function localName(name: string): string {
  if (name.length === 1) return name;
  for (let at = 0; at < name.length; at += 1) if (name.charCodeAt(at) === colon) return name.slice(at + 1);
  return name;
}

function decoded(text: string): string {
  const even = oneLineEnd(text);
  return even.includes('&') ? even.replace(/&([^;&]*)(;?)/g, character) : even;
}

const oneLineEnd = (text: string) => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function character(_: string, name: string, end: string): string {
  const known = Object.hasOwn(entities, name) ? entities[name] : undefined;
  const number = known === undefined ? /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name) : null;
  const code = number === null ? 0 : Number.parseInt(number[1] ?? number[2] ?? '', number[1] ? 16 : 10);
  const isCharacter = code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff);
  if (end === '' || (known === undefined && !isCharacter)) throw new XmlFault('it uses an unknown entity');
  return known ?? String.fromCodePoint(code);
}
