import { InputError, shown } from '../input/input-error.js';
import { columnNamed, listed } from '../input/recipient-column.js';

/** A text with places for columns: `{name}`; `{{` and `}}` are braces. */
export interface Template {
  /** The option it came from, as messages name it. */
  label: string;
  /** Constant text and column names in turn, beginning and ending with text. */
  pieces: readonly string[];
}

/** A template whose columns have been found in the input. */
export interface BoundTemplate {
  label: string;
  /** Index of each column that is used, once. */
  columns: readonly number[];
  render(values: readonly string[]): string;
}

/** Reads a template; a brace that opens or closes nothing is an error that says where it stands. */
export function parseTemplate(text: string, label: string): Template {
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
      const what = `${shown(match[0])} at character ${match.index + 1} names no column`;
      throw new InputError('template', label, what, 'write {{ and }} for braces, {name} for a column');
    } else {
      pieces.push(constant, name);
      constant = '';
    }
  }
  pieces.push(constant + text.slice(done));
  return { label, pieces };
}

/** Finds the columns of a template; an unknown one is an error that lists those there are. */
export function bindTemplate(
  template: Template,
  columns: readonly string[],
  content: 'plain' | 'html',
): BoundTemplate {
  const texts = template.pieces.filter((_, index) => index % 2 === 0);
  const places = template.pieces
    .filter((_, index) => index % 2 === 1)
    .map((name) => {
      const index = columnNamed(columns, name);
      if (index !== -1) return index;
      const what = `{${name}} is no column of the input`;
      throw new InputError('template', template.label, what, `the columns are ${listed(columns)}`);
    });
  const put = content === 'html' ? escapeHtml : (value: string) => value;
  return {
    label: template.label,
    columns: [...new Set(places)],
    render(values) {
      let text = texts[0] ?? '';
      for (let at = 0; at < places.length; at += 1) {
        text += put(values[places[at] ?? -1] ?? '') + (texts[at + 1] ?? '');
      }
      return text;
    },
  };
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
