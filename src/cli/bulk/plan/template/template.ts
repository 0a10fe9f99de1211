import { trimmed } from '../../../text/clean.js';
import { type HtmlPart, htmlParts } from '../../../text/html-blocks.js';
import { columnNamed, columnsHint } from '../../input/header.js';
import { InputError, quoted } from '../../input/input-error.js';
import { ownColumns } from '../../input/report-columns.js';
import { isName, mergeFieldIn } from './merge-fields.js';

/**
 * A text with `{column}` placeholders, `{column|fallback}`, and sections for rows with a value in a column or without one,
 * `{?column}...{/column}` and `{!column}...{/column}`; `{{` and `}}` are literal braces.
 */
export interface Template {
  /** The option that it came from, for errors. */
  label: string;
  parts: readonly Part[];
}

interface Part extends HtmlPart {
  /** Null in a block with braces of its own. */
  pieces: Pieces | null;
}

/** There is a text before and after each mark. */
interface Pieces {
  texts: readonly string[];
  marks: readonly Mark[];
}

/** What is written in braces, and the place of its brace in the template. */
interface Mark {
  written: string;
  at: number;
}

/** A mark as it is read with the columns of an input: a value, or the begin (`?`, `!`) or end of a section. */
interface Field extends Mark {
  kind: 'value' | '?' | '!' | '/';
  column: number;
  /** What is put in for an empty value; null if there must be a value. */
  fallback: string | null;
}

/** A section of a template, or what is outside of sections. */
interface Section {
  /** Null for what every row gets. */
  condition: Field | null;
  texts: string[];
  values: Field[];
}

/** A template bound to the columns of an input. */
export interface BoundTemplate {
  /** Indexes of the columns it uses, without duplicates. */
  columns: readonly number[];
  /** Whether it has fallbacks or sections, so that rows differ in the columns that they need. */
  isConditional: boolean;
  /** The conditions, and the values that are put into the message of a row. */
  fieldsIn(values: readonly string[]): readonly Pick<Field, 'kind' | 'column' | 'fallback'>[];
  render(values: readonly string[]): string;
}

type Content = 'plain' | 'html';

const at = ({ at }: Mark) => `at character ${at + 1}`;

/** Throws InputError for an unmatched brace outside of the blocks of an HTML text. */
export function parseTemplate(text: string, label: string, content: Content = 'plain'): Template {
  const parts: HtmlPart[] = content === 'html' ? htmlParts(text) : [{ text, of: null }];
  let begin = 0;
  return {
    label,
    parts: parts.map((part) => {
      const read = piecesOf(part.text, begin);
      begin += part.text.length;
      if ('texts' in read) return { ...part, pieces: read };
      if (part.of !== null) return { ...part, pieces: null };
      const what = `${quoted(read.written)} ${at(read)} is not a column`;
      throw new InputError('template', label, what, 'Write {name} for a column, {{ and }} for braces.');
    }),
  };
}

/** The pieces of a text, or its first brace that is neither doubled nor around a name. */
function piecesOf(text: string, begin: number): Pieces | Mark {
  const texts: string[] = [];
  const marks: Mark[] = [];
  let constant = '';
  let done = 0;
  for (const match of text.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    constant += text.slice(done, match.index);
    done = match.index + match[0].length;
    const written = match[1];
    if (match[0] === '{{' || match[0] === '}}') {
      constant += match[0][0];
    } else if (written === undefined || written.trim() === '') {
      return { written: match[0], at: begin + match.index };
    } else {
      texts.push(constant);
      marks.push({ written, at: begin + match.index });
      constant = '';
    }
  }
  return { texts: [...texts, constant + text.slice(done)], marks };
}

type Refuse = (what: string, hint: string) => InputError;

/** Throws InputError for an unknown column, a section that is not closed, or a field in the form of another program. */
export function bindTemplate(
  template: Template,
  columns: readonly string[],
  content: Content,
): BoundTemplate {
  const hidden = new Set(ownColumns(columns).values());
  const refuse: Refuse = (what, hint) => new InputError('template', template.label, what, hint);
  const texts = [''];
  const marks: Mark[] = [];
  /** The texts without those of blocks with braces of their own. */
  const searched = [''];
  for (const part of template.parts) {
    const pieces = part.of === null || isOfColumns(part.pieces, columns) ? part.pieces : null;
    if (pieces === null) refuseColumnIn(part, columns, refuse);
    const [first = '', ...rest] = pieces?.texts ?? [part.text];
    texts[texts.length - 1] += first;
    searched[searched.length - 1] += pieces === null ? '\n' : first;
    for (const text of rest) for (const all of [texts, searched]) all.push(text);
    for (const mark of pieces?.marks ?? []) marks.push(mark);
  }
  const fields = marks.map((mark, index) => {
    const name = mark.written.trim();
    if (texts[index]?.endsWith('{') && texts[index + 1]?.startsWith('}'))
      throw refuse(
        `"{{{${name}}}}" would be the column in braces`,
        `Write {${name}} for the column. To send braces around it, write {{ {${name}} }}.`,
      );
    return fieldOf(mark, columns, hidden) ?? refuseMark(mark, columns, { hidden, refuse });
  });
  // Or the second bar of other languages would be sent.
  const doubled = fields.find(({ fallback }) => fallback?.trimStart().startsWith('|'));
  if (doubled !== undefined) throw refuse(`${shown(doubled)} has two bars`, 'Write one: {name|friend}.');
  const fallbacks = fields.flatMap(({ fallback }) => (fallback === null ? [] : [fallback]));
  for (const text of [...searched, ...fallbacks]) {
    const field = mergeFieldIn(text, columns, { hidden, content });
    if (field === null) continue;
    const { column, isCondition, written, source } = field;
    const way = isCondition
      ? `Write {?${column}}...{/${column}} around a text for the rows that have a value.`
      : `Write {${column}} for the column.`;
    const rename = `To send ${quoted(written)} itself, give the column another name in the file.`;
    throw refuse(`${quoted(source)} is text here, not the column`, `${way} ${rename}`);
  }
  const sections = sectionsOf(texts, fields, refuse);
  const isTaken = ({ condition }: Section, values: readonly string[]) =>
    condition === null || isBlank(values[condition.column]) === (condition.kind === '!');
  const insert = content === 'html' ? escapeHtml : (value: string) => value;
  return {
    columns: [...new Set(fields.map(({ column }) => column))],
    isConditional: sections.length > 1 || fallbacks.length > 0,
    fieldsIn: (values) =>
      sections.flatMap((section) => [
        ...(section.condition === null ? [] : [section.condition]),
        ...(isTaken(section, values) ? section.values : []),
      ]),
    render(values) {
      let text = '';
      for (const section of sections) {
        if (!isTaken(section, values)) continue;
        let index = 0;
        for (const { column, fallback } of section.values) {
          const value = values[column] ?? '';
          text += section.texts[index] ?? '';
          text += fallback !== null && isBlank(value) ? fallback : insert(value);
          index += 1;
        }
        text += section.texts[index] ?? '';
      }
      return text;
    },
  };
}

/** Whether a cell has nothing that anybody sees. */
export const isBlank = (value = ''): boolean => trimmed(value) === '';

/** A column by its whole name, then with a fallback, then the begin or end of a section; null for none. */
function fieldOf(mark: Mark, columns: readonly string[], hidden?: ReadonlySet<number>): Field | null {
  const { written } = mark;
  const read = (kind: Field['kind'], name: string, fallback: string | null = null): Field | null => {
    const column = columnNamed(columns, name, hidden);
    return column === -1 ? null : { ...mark, kind, column, fallback };
  };
  let field = read('value', written);
  for (let bar = written.lastIndexOf('|'); field === null && bar > 0; bar = written.lastIndexOf('|', bar - 1))
    field = read('value', written.slice(0, bar), written.slice(bar + 1));
  if (field !== null) return field;
  const name = written.trim();
  const kind = (['?', '!', '/'] as const).find((each) => name.startsWith(each));
  return kind === undefined ? null : read(kind, name.slice(1));
}

function refuseMark(
  mark: Mark,
  columns: readonly string[],
  { hidden, refuse }: { hidden: ReadonlySet<number>; refuse: Refuse },
): never {
  const written = mark.written.trim();
  const visible = columnsHint(columns.filter((_, index) => !hidden.has(index)));
  if (fieldOf(mark, columns) !== null)
    throw refuse(
      `{${written}} is a column of urtuu's report or rejects file, not of the list`,
      `If it is your own, give it another name in the file. ${visible}`,
    );
  const name = written.replace(/^[?!/]|\|.*/gs, '').trim();
  const where = name === written ? '' : ` in ${quoted(`{${written}}`)} ${at(mark)}`;
  throw refuse(`unknown column {${name}}${where}`, `${visible} For braces, write {{ and }}.`);
}

/** Throws InputError for a section that is not closed, closed without a begin, or inside another one. */
function sectionsOf(texts: readonly string[], fields: readonly Field[], refuse: Refuse): Section[] {
  let section: Section = { condition: null, texts: [texts[0] ?? ''], values: [] };
  const sections = [section];
  for (const [index, field] of fields.entries()) {
    const { kind, column } = field;
    const { condition: open } = section;
    const text = texts[index + 1] ?? '';
    if (kind === 'value') {
      section.values.push(field);
      section.texts.push(text);
      continue;
    }
    if (kind === '/' && open?.column !== column)
      throw refuse(
        `${shown(field)} closes no section`,
        open === null
          ? `Write {?${nameIn(field)}} or {!${nameIn(field)}} where the section begins.`
          : closing(open),
      );
    if (kind !== '/' && open !== null)
      throw refuse(
        `${shown(field)} is inside the section ${shown(open)}`,
        `${closing(open)} Sections cannot be nested.`,
      );
    section = { condition: kind === '/' ? null : field, texts: [text], values: [] };
    sections.push(section);
  }
  if (section.condition !== null)
    throw refuse(`${shown(section.condition)} is not closed`, closing(section.condition));
  return sections;
}

const shown = (field: Field) => `${quoted(`{${field.written.trim()}}`)} ${at(field)}`;
const nameIn = ({ written }: Field) => written.trim().slice(1).trim();
const closing = (open: Field) => `Write {/${nameIn(open)}} where that section ends.`;

/** Whether a block is a template like the rest: its braces are doubled, or around names of columns. */
const isOfColumns = (pieces: Part['pieces'], columns: readonly string[]): boolean =>
  pieces?.marks.every((mark) => fieldOf(mark, columns) !== null) === true;

/** Nobody sees a comment, but a style or script with the name of a column was meant to have its value. */
function refuseColumnIn({ text, of }: HtmlPart, columns: readonly string[], refuse: Refuse): void {
  if (of === 'comment') return;
  for (const [source, written = ''] of text.matchAll(/\{([^{}]+)\}/g)) {
    const column = columns[fieldOf({ written, at: 0 }, columns)?.column ?? -1];
    if (column === undefined || !isName(source, column)) continue;
    throw refuse(
      `${quoted(source)} is text in this <${of}>, not the column`,
      `For the column, write {{ and }} for every other brace of the <${of}>.`,
    );
  }
}

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
