import { type HtmlPart, htmlParts } from '../../text/html-blocks.js';
import { columnNamed, columnsHint } from '../input/header.js';
import { InputError, quoted } from '../input/input-error.js';
import { ownColumns } from '../input/report-columns.js';

/** A text with `{column}` placeholders; `{{` and `}}` are literal braces. */
export interface Template {
  /** The option that it came from, for errors. */
  label: string;
  parts: readonly Part[];
}

interface Part extends HtmlPart {
  /** Text and column names alternately, starting and ending with text; null in a block with braces of its own. */
  pieces: readonly string[] | null;
}

/** A template bound to the columns of an input. */
export interface BoundTemplate {
  /** Indexes of the columns it uses, without duplicates. */
  columns: readonly number[];
  render(values: readonly string[]): string;
}

type Content = 'plain' | 'html';

/** Throws InputError for an unmatched brace outside of the blocks of an HTML text. */
export function parseTemplate(text: string, label: string, content: Content = 'plain'): Template {
  const parts: HtmlPart[] = content === 'html' ? htmlParts(text) : [{ text, of: null }];
  let begin = 0;
  return {
    label,
    parts: parts.map((part) => {
      const read = piecesOf(part.text);
      const at = begin;
      begin += part.text.length;
      if (Array.isArray(read)) return { ...part, pieces: read };
      if (part.of !== null) return { ...part, pieces: null };
      const what = `${quoted(read.mark)} at character ${at + read.at + 1} is not a column`;
      throw new InputError('template', label, what, 'Write {name} for a column, {{ and }} for braces.');
    }),
  };
}

/** The pieces of a text, or its first brace that is neither doubled nor around a name. */
function piecesOf(text: string): string[] | { mark: string; at: number } {
  const pieces: string[] = [];
  let constant = '';
  let done = 0;
  for (const match of text.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    constant += text.slice(done, match.index);
    done = match.index + match[0].length;
    const name = match[1]?.trim();
    if (match[0] === '{{' || match[0] === '}}') {
      constant += match[0][0];
    } else if (name === undefined || name === '') {
      return { mark: match[0], at: match.index };
    } else {
      pieces.push(constant, name);
      constant = '';
    }
  }
  return [...pieces, constant + text.slice(done)];
}

/** Throws InputError for an unknown column, or a field in the form of another program. */
export function bindTemplate(
  template: Template,
  columns: readonly string[],
  content: Content,
): BoundTemplate {
  const hidden = new Set(ownColumns(columns).values());
  const refuse = (what: string, hint: string) => new InputError('template', template.label, what, hint);
  const texts = [''];
  const names: string[] = [];
  /** The texts without those of blocks with braces of their own. */
  const searched = [''];
  for (const part of template.parts) {
    const isTemplate = part.of === null || isOfColumns(part.pieces, columns);
    if (!isTemplate) refuseColumnIn(part, columns, refuse);
    const [first = '', ...rest] = isTemplate ? (part.pieces ?? []) : [part.text];
    texts[texts.length - 1] += first;
    searched[searched.length - 1] += isTemplate ? first : '\n';
    for (const [at, piece] of rest.entries())
      if (at % 2 === 0) names.push(piece);
      else for (const all of [texts, searched]) all.push(piece);
  }
  for (const text of searched) {
    const field = mergeFieldIn(text, columns, { hidden, content });
    if (field === null) continue;
    const { column, written, source } = field;
    const rename = `To send ${quoted(written)} itself, give the column another name in the file.`;
    throw refuse(
      `${quoted(source)} is text here, not the column`,
      `Write {${column}} for the column. ${rename}`,
    );
  }
  const places = names.map((name, at) => {
    if (texts[at]?.endsWith('{') && texts[at + 1]?.startsWith('}'))
      throw refuse(
        `"{{{${name}}}}" would be the column in braces`,
        `Write {${name}} for the column. To send braces around it, write {{ {${name}} }}.`,
      );
    const index = columnNamed(columns, name, hidden);
    if (index !== -1) return index;
    const visible = columns.filter((_, at) => !hidden.has(at));
    if (columnNamed(columns, name) === -1)
      throw refuse(`unknown column {${name}}`, `${columnsHint(visible)} For braces, write {{ and }}.`);
    const hint = `If it is your own, give it another name in the file. ${columnsHint(visible)}`;
    throw refuse(`{${name}} is a column of urtuu's report or rejects file, not of the list`, hint);
  });
  const insert = content === 'html' ? escapeHtml : (value: string) => value;
  return {
    columns: [...new Set(places)],
    render(values) {
      let text = texts[0] ?? '';
      for (let at = 0; at < places.length; at += 1) {
        text += insert(values[places[at] ?? -1] ?? '') + (texts[at + 1] ?? '');
      }
      return text;
    },
  };
}

/** Whether a block is a template like the rest: its braces are doubled, or around the names of columns. */
const isOfColumns = (pieces: Part['pieces'], columns: readonly string[]): boolean =>
  pieces?.every((name, at) => at % 2 === 0 || columnNamed(columns, name) !== -1) === true;

/** Nobody sees a comment, but a style or script with the name of a column was meant to have its value. */
function refuseColumnIn(
  { text, of }: HtmlPart,
  columns: readonly string[],
  refuse: (what: string, hint: string) => InputError,
): void {
  if (of === 'comment') return;
  for (const [source, name = ''] of text.matchAll(/\{([^{}]+)\}/g)) {
    const column = columns[columnNamed(columns, name)];
    if (column === undefined || !isName(source, column)) continue;
    throw refuse(
      `${quoted(source)} is text in this <${of}>, not the column`,
      `For the column, write {{ and }} for every other brace of the <${of}>.`,
    );
  }
}

/**
 * Fields of other programs, by what is around a name: each match is an opening mark, and looks ahead at the rest, in
 * which the second group is the name.
 */
const everywhere = [
  // {{name}}, which is the literal {name} here; also with a filter or a sigil: {{name|title}}, {{#name}}.
  /\{(?=([\s#^&/!=~$]*([^\s#^&/!=~${}|][^{}|]*)(?:\|[^{}]*)?\}))/g,
  // The same in the entities of HTML, and in a link.
  /(?:&#(?:123|x7b);|%7b)(?=(((?:(?!&#(?:12[35]|x7[bd]);|%7[bd]).)+)(?:&#(?:125|x7d);|%7d)))/gi,
  // [name], [[name]]
  /\[(?=(([^[\]]+)\]))/g,
  // <<name>>, and in HTML &lt;name&gt;
  /<<(?=(([^<>]+)>>))/g,
  /&lt;(?=(((?:(?!&[lg]t;).)+)&gt;))/g,
  // <% name %>, <%= name %>
  /<%[=-]?(?=(([^<>%]+)%>))/g,
  // «name» as in Word, and in HTML &laquo;name&raquo;
  /«(?=(([^«»]+)»))/g,
  /&laquo;(?=(((?:(?!&[lr]aquo;).)+)&raquo;))/g,
  // *|name|*
  /\*\|(?=(([^|]+)\|\*))/g,
  // %(name)s
  /%\((?=(([^()]+)\)s))/g,
  // %name%, #name#, @name@: no blanks at the marks, because of "10% of 20%".
  /%(?=(([^\s%](?:[^%]*[^\s%])?)%))/g,
  /#(?=(([^\s#](?:[^#]*[^\s#])?)#))/g,
  /@(?=(([^\s@](?:[^@]*[^\s@])?)@))/g,
  // __name__, @@name
  /(?<!_)__(?=(((?:(?!__).)+)__))/g,
  /@@(?=(([\p{L}\p{N}_]+)))/gu,
  // :name, $name: after a blank, because of links and styles (a:link), and not as short as a smiley (:D).
  /(?<![^\s("'«>])[:$](?=(([\p{L}\p{N}_]{3,})))/gu,
];
/** In HTML it would be a tag. */
const ofPlainText = [/<(?=(([^<>]+)>))/g];
/** What editors of HTML put between a mark and a name: {{<b>name</b>}}. */
const unseen = /<[^<>]*>|&nbsp;|&#(?:160|xa0);/gi;

interface MergeField {
  column: string;
  /** As everybody would get it. */
  written: string;
  /** As it stands in the template. */
  source: string;
}

/**
 * A field of another program in a text that nothing is put into, if it names a column: everybody would get it as it is.
 */
function mergeFieldIn(
  text: string,
  columns: readonly string[],
  { hidden, content }: { hidden: ReadonlySet<number>; content: Content },
): MergeField | null {
  const isHtml = content === 'html';
  const texts = isHtml ? [text, text.replace(unseen, ' ')] : [text];
  for (const field of isHtml ? everywhere : [...everywhere, ...ofPlainText]) {
    for (const [mark, rest = '', name = ''] of texts.flatMap((each) => [...each.matchAll(field)])) {
      const column = columns[columnNamed(columns, name, hidden)];
      if (column === undefined || !isName(mark, column)) continue;
      const written = mark + rest;
      return { column, written, source: written.replace(/[{}]/g, '$&$&') };
    }
  }
  return null;
}

/** Whether marks around a column's name are meant for it: [1] is a footnote, and the column 1 of a list without a header. */
const isName = (mark: string, column: string) => mark === '{' || !/^\d+$/.test(column);

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
