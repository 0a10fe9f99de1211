import { columnNamed } from '../../input/header.js';

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

/** A condition of another program: {{#if name}}, {{if .name}}, *|IF:NAME|*. */
const conditionOn = /^\s*(?:if|unless)[\s:][\s:.]*/i;

interface MergeField {
  column: string;
  /** Whether it asks for a value instead of standing for it. */
  isCondition: boolean;
  /** As everybody would get it. */
  written: string;
  /** As it stands in the template. */
  source: string;
}

/**
 * A field of another program in a text that nothing is put into, if it names a column: everybody would get it as it is.
 */
export function mergeFieldIn(
  text: string,
  columns: readonly string[],
  { hidden, content }: { hidden: ReadonlySet<number>; content: 'plain' | 'html' },
): MergeField | null {
  const isHtml = content === 'html';
  const texts = isHtml ? [text, text.replace(unseen, ' ')] : [text];
  for (const field of isHtml ? everywhere : [...everywhere, ...ofPlainText]) {
    for (const [mark, rest = '', name = ''] of texts.flatMap((each) => [...each.matchAll(field)])) {
      const named = (each: string) => columns[columnNamed(columns, each, hidden)];
      const value = named(name);
      const column = value ?? (conditionOn.test(name) ? named(name.replace(conditionOn, '')) : undefined);
      if (column === undefined || !isName(mark, column)) continue;
      const written = mark + rest;
      const isCondition = value === undefined;
      return { column, isCondition, written, source: written.replace(/[{}]/g, '$&$&') };
    }
  }
  return null;
}

/** Whether marks around a column's name are meant for it: [1] is a footnote, and the column 1 of a list without a header. */
export const isName = (mark: string, column: string) => mark === '{' || !/^\d+$/.test(column);
