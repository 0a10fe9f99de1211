import { SaxesParser } from 'saxes';
import { damaged } from './workbook-error.js';

/** Receives the elements of a document by their local names, because writers choose their own prefixes. */
export interface XmlHandler {
  /** `attribute` returns the value of an attribute by its local name, during the call only. */
  open(name: string, attribute: Attribute): void;
  /** The text between two tags, comments or sections, decoded. */
  text?(value: string): void;
  close?(name: string): void;
  /** Whether the rest of the document need not be read. */
  readonly done?: boolean;
}

export type Attribute = (name: string) => string | undefined;

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
    handler.open(localName(name), (wanted) => attributeOf(attributes, wanted, refuse));
  });
  const text = (value: string) => {
    unread = 0;
    if (depth > 0) handler.text?.(value);
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', ({ name }) => {
    unread = 0;
    depth -= 1;
    handler.close?.(localName(name));
  });

  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decoded = (block?: Buffer): string => {
    try {
      return decoder.decode(block, { stream: block !== undefined });
    } catch {
      throw damaged(`${part} is not UTF-8`);
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

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

function attributeOf(
  attributes: Readonly<Record<string, string>>,
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
