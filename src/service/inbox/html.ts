import PostalMime from 'postal-mime';
import { wholeTextDecoder } from '../../contract/index.js';
import { isOfInbox } from './parse-mail.js';

/** Characters of a link's tag that are searched for its address. */
const longestTag = 2_000;

interface Parser {
  mimeOptions: { maxHeadersSize: number };
  textTypes: Set<'plain' | 'html'>;
  textContent: { plain?: string | undefined };
  addTextEntry(node: unknown, type: 'plain' | 'html', item: { type: string; value: unknown }): void;
  renderTextContent(): void;
}

/**
 * Makes the parser read pages as texts. Its own way takes hours on an unclosed link, and drops what is around the body:
 * pages are prepared for it, also in attached mails.
 */
export function readPagesAsTexts(): void {
  const parser = PostalMime.prototype as unknown as Parser;
  const { addTextEntry, renderTextContent } = parser;
  parser.addTextEntry = function (node, type, item) {
    const { value } = item;
    if (typeof value !== 'string' || !isOfInbox(this)) addTextEntry.call(this, node, type, item);
    else if (type === 'html') addTextEntry.call(this, node, type, { ...item, value: prepared(value) });
    // A blank text beside a page is none.
    else if (value.trim() !== '') addTextEntry.call(this, node, type, item);
  };

  // Only the text is read: a page made of it would take memory.
  parser.renderTextContent = function () {
    if (isOfInbox(this) && this.textTypes.size > 0) this.textTypes = new Set(['plain']);
    renderTextContent.call(this);
    if (isOfInbox(this)) this.textContent.plain = this.textContent.plain?.replaceAll(noTag, '<');
  };
}

/** Stands for the `<` of `a < b`, which begins no tag in browsers; an entity would take more memory. */
const noTag = '\u0002';

const prepared = (html: string): string =>
  withoutTags(withoutBlocks(html))
    .replace(/<(?![a-z/!?])/gi, noTag)
    .replace(/&#(?:0*(12[89]|1[34]\d|15\d)(?!\d)|x0*([89][\da-f])(?![\da-f]));?/gi, (_, decimal, hex) =>
      letterOf(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)),
    );

/** In windows-1252, as browsers read these numbers; nothing for those that it leaves out. */
const letterOf = (code: number): string =>
  wholeTextDecoder('windows-1252')
    .decode(Uint8Array.of(code))
    .replace(/[\x80-\x9f]/, '');

/** Without the tags around head and body, and with the addresses of links in brackets before their texts. */
function withoutTags(html: string): string {
  const begin = /<(?:a\b|!doctype\b|\/?(?:html|head|body)\b)/gi;
  let kept = '';
  for (let at = 0; ; begin.lastIndex = at) {
    const found = begin.exec(html);
    kept += html.slice(at, found?.index);
    if (found === null) return kept;
    const end = html.indexOf('>', found.index);
    if (end < 0) return found[0].length > 2 ? kept + html.slice(found.index) : kept;
    const tag = html.slice(found.index, Math.min(end, found.index + longestTag));
    kept += found[0].length > 2 ? '\n' : ` ${addressOf(tag)} `;
    at = end + 1;
  }
}

function addressOf(tag: string): string {
  const [, quoted, other] = /\bhref\s*=\s*(?:["']([^"'<]*)|([^\s"'<]+))/i.exec(tag) ?? [];
  const address = quoted ?? other;
  return address === undefined ? '' : `(${address})`;
}

const blocks: readonly [begin: RegExp, end: RegExp][] = [
  [/<style\b/gi, /<\/style\b/gi],
  [/<title\b/gi, /<\/title\b/gi],
];

/** Without styles and titles. Not a single expression, which would search again and again for missing ends. */
function withoutBlocks(html: string): string {
  let kept = html;
  for (const [begin, last] of blocks) {
    const rest = kept;
    kept = '';
    for (let at = 0; ; ) {
      begin.lastIndex = at;
      last.lastIndex = begin.exec(rest)?.index ?? rest.length;
      const [from, to] = [last.lastIndex, last.exec(rest)?.index ?? rest.length];
      kept += rest.slice(at, from);
      if (to === rest.length) {
        kept += rest.slice(from);
        break;
      }
      at = to;
    }
  }
  return kept;
}
