import PostalMime from 'postal-mime';
import { isOurs } from './parse-mail.js';

/** Characters of a link's tag that are searched for its address. */
const longestTag = 2_000;

interface Parser {
  mimeOptions: { maxHeadersSize: number };
  textTypes: Set<'plain' | 'html'>;
  addTextEntry(node: unknown, type: 'plain' | 'html', item: { type: string; value: unknown }): void;
  renderTextContent(): void;
}

// The parser's expression for links takes hours on an unclosed link, so links are removed first, also in attached
// mails.
const parser = PostalMime.prototype as unknown as Parser;
const { addTextEntry, renderTextContent } = parser;
parser.addTextEntry = function (node, type, item) {
  const { value } = item;
  const isPage = isOurs(this) && type === 'html' && typeof value === 'string';
  addTextEntry.call(this, node, type, isPage ? { ...item, value: withoutLinks(value) } : item);
};

// A text is read as it is: a page made of it would only take memory.
parser.renderTextContent = function () {
  if (isOurs(this) && this.textTypes.has('plain')) this.textTypes.delete('html');
  renderTextContent.call(this);
};

/** Puts the addresses of links in brackets before their texts. */
function withoutLinks(html: string): string {
  const begin = /<a\b/gi;
  let kept = '';
  for (let at = 0; ; begin.lastIndex = at) {
    const found = begin.exec(html);
    kept += html.slice(at, found?.index);
    if (found === null) return kept;
    const end = html.indexOf('>', found.index);
    if (end < 0) return kept;
    const tag = html.slice(found.index, Math.min(end, found.index + longestTag));
    const [, quoted, other] = /\bhref\s*=\s*(?:["']([^"'<]*)|([^\s"'<]+))/i.exec(tag) ?? [];
    const address = quoted ?? other;
    kept += address === undefined ? ' ' : ` (${address}) `;
    at = end + 1;
  }
}

/** Not a single expression, which would search again and again for missing ends. */
export function withoutStyles(html: string): string {
  let kept = '';
  for (let at = 0; ; ) {
    const begin = /<style\b/gi;
    begin.lastIndex = at;
    const found = begin.exec(html);
    kept += html.slice(at, found?.index);
    if (found === null) return kept;
    const end = /<\/style/gi;
    end.lastIndex = found.index;
    const last = end.exec(html);
    if (last === null) return kept;
    at = last.index;
  }
}
