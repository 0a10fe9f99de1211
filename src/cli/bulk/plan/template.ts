import { columnNamed, columnsHint } from '../input/header.js';
import { InputError, quoted } from '../input/input-error.js';

/** A text with `{column}` placeholders; `{{` and `}}` are literal braces. */
export interface Template {
  /** The option that it came from, for errors. */
  label: string;
  /** Text and column names alternately, starting and ending with text. */
  pieces: readonly string[];
}

/** A template bound to the columns of an input. */
export interface BoundTemplate {
  /** Indexes of the columns it uses, without duplicates. */
  columns: readonly number[];
  render(values: readonly string[]): string;
}

/** Throws InputError for an unmatched brace. */
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
      const what = `${quoted(match[0])} at character ${match.index + 1} is not a column`;
      throw new InputError('template', label, what, 'Write {name} for a column, {{ and }} for braces.');
    } else {
      pieces.push(constant, name);
      constant = '';
    }
  }
  pieces.push(constant + text.slice(done));
  return { label, pieces };
}

/** Throws InputError for an unknown column. */
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
      throw new InputError('template', template.label, `unknown column {${name}}`, columnsHint(columns));
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
