import { SaxesParser } from 'saxes';
import { damaged } from './workbook-error.js';

/**
 * Receives the elements in the namespace of the root by their local names, because writers choose their own prefixes.
 * Extensions are left out: elements of other namespaces, and all of `extLst`.
 */
export interface XmlHandler {
  /**
   * `attribute` returns the value of an attribute by its local name, during the call only. `parent` is the element
   * around this one, '' for the root: one name may mean different things in different places.
   */
  open(name: string, attribute: Attribute, parent: string): void;
  /** The text between two tags, comments or sections, decoded. */
  text?(value: string): void;
  close?(name: string, parent: string): void;
  /** Whether the rest of the document need not be read. */
  readonly done?: boolean;
}

export type Attribute = (name: string) => string | undefined;

type Attributes = Readonly<Record<string, string>>;
const none: Attributes = {};

const deepest = 100;
/** In characters: a text or tag without an end would fill the memory. */
const longestToken = 4_000_000;

/**
 * Passes the elements of a part to the handler. Throws WorkbookError if the part is not plain, whole XML: document
 * types and all entities other than XML's own are refused.
 */
export async function readXml(
  part: string,
  blocks: AsyncIterable<Buffer>,
  handler: XmlHandler,
): Promise<void> {
  const refuse = (problem: string) => damaged(`${part} is not plain XML: ${problem}`);
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  const elements = new Elements();
  let unread = 0;
  let depth = 0;
  for (const event of ['comment', 'processinginstruction', 'xmldecl'] as const)
    parser.on(event, () => {
      unread = 0;
    });
  parser.on('error', ({ message }) => {
    throw refuse(message);
  });
  parser.on('doctype', () => {
    throw refuse('it declares a document type');
  });
  parser.on('opentag', ({ name, attributes }) => {
    unread = 0;
    depth += 1;
    if (depth > deepest) throw refuse('its elements are nested too deeply');
    if (elements.isSkipping) return;
    const isPlain = hasPlainNames(attributes);
    const local = elements.open(name, isPlain ? none : attributes, depth);
    if (local === null) return;
    const attribute = (wanted: string) =>
      isPlain ? attributes[wanted] : attributeOf(attributes, wanted, refuse);
    handler.open(local, attribute, elements.parent);
  });
  const text = (value: string) => {
    unread = 0;
    if (depth > 0 && !elements.isSkipping) handler.text?.(value);
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', () => {
    unread = 0;
    const local = elements.close(depth);
    if (local !== null) handler.close?.(local, elements.parent);
    depth -= 1;
  });

  let decoder: InstanceType<typeof TextDecoder> | undefined;
  const decoded = (block?: Buffer): string => {
    decoder ??= new TextDecoder(encodingOf(block), { fatal: true });
    try {
      return decoder.decode(block, { stream: block !== undefined });
    } catch {
      throw damaged(`${part} is not ${decoder.encoding.toUpperCase()}`);
    }
  };
  for await (const block of blocks) {
    const characters = decoded(block);
    unread += characters.length;
    parser.write(characters);
    if (unread > longestToken) throw refuse('a text has no end');
    if (handler.done) return;
  }
  parser.write(decoded()).close();
}

/** By the byte order mark or the first `<`; XML knows no others without naming them. */
function encodingOf(block: Buffer | undefined): string {
  const begin = block?.toString('hex', 0, 2) ?? '';
  if (begin === 'fffe' || begin === '3c00') return 'utf-16le';
  return begin === 'feff' || begin === '003c' ? 'utf-16be' : 'utf-8';
}

const compatibility = 'http://schemas.openxmlformats.org/markup-compatibility/2006';
/** A part of a workbook has a few dozen. */
const mostNames = 1_000;
/** Elements around what a reader without extensions reads. */
const wrappers: ReadonlySet<string> = new Set(['AlternateContent', 'Fallback']);

/** Finds out which elements are in the namespace of the root. */
class Elements {
  isSkipping = false;
  /** The element around the current one. */
  parent = '';
  /** The depth of the skipped element. */
  #skipped = 0;
  /** The open elements; null for a wrapper, which stands for the one around it. */
  readonly #open: (string | null)[] = [];
  #own = '';
  #namespaces: ReadonlyMap<string, string> = new Map();
  /** The namespaces around each open element that declares some. */
  readonly #outer: { depth: number; namespaces: ReadonlyMap<string, string> }[] = [];
  /** Local names of elements in the namespace of the root, by name; undefined for others. */
  #locals = new Map<string, string | undefined>();

  /** The local name of an element to pass on, else null. Must not be called within a skipped element. */
  open(name: string, attributes: Attributes, depth: number): string | null {
    if (attributes !== none) this.#declare(attributes, depth);
    if (depth === 1) this.#own = this.#namespaceOf(name);
    const local = this.#localOf(name);
    if (local !== undefined && local !== 'extLst') {
      this.#setParent();
      this.#open.push(local);
      return local;
    }
    if (local === undefined && this.#isWrapper(name)) {
      this.#open.push(null);
      return null;
    }
    this.isSkipping = true;
    this.#skipped = depth;
    return null;
  }

  /** The local name of an element that was passed on, else null. */
  close(depth: number): string | null {
    if (this.isSkipping && this.#skipped < depth) return null;
    const outer = this.#outer.at(-1);
    if (outer?.depth === depth) {
      this.#outer.pop();
      this.#setNamespaces(outer.namespaces);
    }
    if (this.isSkipping) {
      this.isSkipping = false;
      return null;
    }
    const local = this.#open.pop() ?? null;
    if (local !== null) this.#setParent();
    return local;
  }

  #setParent(): void {
    let at = this.#open.length - 1;
    while (this.#open[at] === null) at -= 1;
    this.parent = this.#open[at] ?? '';
  }

  #declare(attributes: Attributes, depth: number): void {
    const names = Object.keys(attributes).filter((name) => /^xmlns(?::|$)/.test(name));
    if (names.length === 0) return;
    this.#outer.push({ depth, namespaces: this.#namespaces });
    const declared = names.map((name): [string, string] => [
      name.slice('xmlns:'.length),
      attributes[name] ?? '',
    ]);
    this.#setNamespaces(new Map([...this.#namespaces, ...declared]));
  }

  #setNamespaces(namespaces: ReadonlyMap<string, string>): void {
    this.#namespaces = namespaces;
    this.#locals.clear();
  }

  #localOf(name: string): string | undefined {
    const known = this.#locals.get(name);
    if (known !== undefined || this.#locals.has(name)) return known;
    const local = this.#namespaceOf(name) === this.#own ? localName(name) : undefined;
    if (this.#locals.size === mostNames) this.#locals.clear();
    this.#locals.set(name, local);
    return local;
  }

  #isWrapper(name: string): boolean {
    return this.#namespaceOf(name) === compatibility && wrappers.has(localName(name));
  }

  /** The prefix itself if it is not declared. */
  #namespaceOf(name: string): string {
    const prefix = name.slice(0, Math.max(name.indexOf(':'), 0));
    return this.#namespaces.get(prefix) ?? prefix;
  }
}

/** Whether no attribute has a prefix or declares a namespace. */
function hasPlainNames(attributes: Attributes): boolean {
  for (const name in attributes) if (name === 'xmlns' || name.includes(':')) return false;
  return true;
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

function attributeOf(
  attributes: Attributes,
  wanted: string,
  refuse: (problem: string) => Error,
): string | undefined {
  let found: string | undefined;
  for (const name in attributes) {
    // Declarations of prefixes look like attributes.
    if (localName(name) !== wanted || name.startsWith('xmlns')) continue;
    if (found !== undefined) throw refuse(`an element has two attributes ${wanted}`);
    found = attributes[name];
  }
  return found;
}
