import type { Child } from 'hono/jsx';
import type { TextSize } from '../../../contract/index.js';
import { timestamp } from '../../timestamp.js';
import { fill, type Strings } from '../language/language.js';
import { linkTo, type PageContext } from '../page.js';
import { clockTime } from './format.js';

type Look = Pick<PageContext, 't' | 'now'>;

/** `at` is ISO 8601 or milliseconds since 1970. */
export function Time({ at, look: { t, now } }: { at: string | number; look: Look }) {
  const milliseconds = typeof at === 'number' ? at : Date.parse(at);
  const iso = timestamp(milliseconds);
  return (
    <time datetime={iso} title={iso}>
      {clockTime(milliseconds, now, t)}
    </time>
  );
}

/** In a form: the project that its page shows. */
export const OfProject = ({ context: { projectId } }: { context: Pick<PageContext, 'projectId'> }) => (
  <input type="hidden" name="project" value={projectId} />
);

/** A region with a heading, and something beside it. */
export function Panel({ title, aside, children }: { title: string; aside?: Child; children?: Child }) {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** Large figures side by side. */
export function Figures({
  figures,
}: {
  figures: readonly (readonly [name: string, value: string, note?: string | null, isBad?: boolean])[];
}) {
  return (
    <dl class="figures">
      {figures.map(([name, value, note, isBad = false]) => (
        <div class={isBad ? 'bad' : undefined}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b> {note != null && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Facts about one thing; those without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: Child | null])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null && value !== '' && value !== false)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export interface Column<Row> {
  name: string;
  /** Right-aligned figures. */
  isNumber?: boolean;
  /** On a phone: the heading of a row, the time beside it, or a value that needs no name. */
  role?: 'main' | 'when' | 'plain';
  cell(row: Row): Child;
}

/** On a phone each row is a card whose cells carry the names of their columns. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowId,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Keeps a row the same while the page is live. */
  rowId?: (row: Row) => string;
}) {
  const classOf = ({ isNumber, role }: Column<Row>) =>
    [isNumber ? 'number' : '', role ?? ''].join(' ').trim() || undefined;
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) =>
            column.name === '' ? (
              <td />
            ) : (
              <th scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr id={rowId?.(row)}>
            {columns.map((column) => (
              <td class={classOf(column)} data-name={column.name}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A text from outside, and a way to the rest of a long one. */
export function Excerpt({ text, rest, look: { t } }: { text: string; rest: string | null; look: Look }) {
  const begin = rest === null ? text : (/^.{0,1000}/su.exec(text)?.[0] ?? '');
  return (
    <p class="text" dir="auto">
      {begin}
      {begin.length < text.length && (
        <>
          … <a href={rest ?? ''}>{t.more}</a>
        </>
      )}
    </p>
  );
}

/** Ways to older and to the newest rows; `shown` is where this page begins. */
export function Pages({
  path,
  query = {},
  by = 'after',
  shown,
  next,
  look: { t },
}: {
  path: string;
  query?: Parameters<typeof linkTo>[1];
  by?: string;
  shown: string | number | null | undefined;
  next: string | number | null;
  look: Look;
}) {
  if (!shown && !next) return null;
  return (
    <nav class="pages" aria-label={t.older}>
      {shown && <a href={linkTo(path, query)}>{t.newest}</a>}
      {next && (
        <a href={linkTo(path, { ...query, [by]: String(next) })} rel="next">
          {t.older}
        </a>
      )}
    </nav>
  );
}

/** A field of a form with its label, a hint, and what is wrong in it; with `rows`, of several lines. */
export function Field({
  name,
  label,
  hint,
  trouble,
  value,
  ...input
}: {
  name: string;
  label: string;
  hint?: string;
  trouble?: string | undefined;
  value?: string | number | undefined;
  [attribute: string]: string | number | boolean | undefined;
}) {
  const about = [trouble && `${name}-trouble`, hint && `${name}-hint`].filter(Boolean).join(' ') || undefined;
  const all = { id: name, name, ...input, 'aria-invalid': trouble && 'true', 'aria-describedby': about };
  return (
    <p class="field">
      <label for={name}>{label}</label>
      {/* A browser leaves the first line end out. */}
      {input.rows ? <textarea {...all}>{`\n${value}`}</textarea> : <input {...all} value={value} />}
      {trouble && (
        <small id={`${name}-trouble`} class="bad">
          {trouble}
        </small>
      )}
      {hint && (
        <small id={`${name}-hint`} class="hint">
          {hint}
        </small>
      )}
    </p>
  );
}

export const partsLine = ({ kind, parts, units }: TextSize, t: Strings): string =>
  fill(kind === 'latin' ? t.partsLatin : t.partsCyrillic, { parts, units });

/** Something that has happened, or went wrong. */
export function Notice({ kind, title, children }: { kind: 'good' | 'bad'; title: string; children?: Child }) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong> {children}
    </div>
  );
}

/** Above what the form of the page before has sent. */
export const Done = ({ context: { t, query } }: { context: Pick<PageContext, 't' | 'query'> }) =>
  query.done ? (
    <Notice kind="good" title={query.done === 'sent' ? `${t.accepted}.` : t.sentBefore}>
      <a href={linkTo('/send')}>{t.newMessage}</a>
    </Notice>
  ) : null;

export const Empty = ({ children }: { children?: Child }) => <p class="empty">{children}</p>;

/** The beginning of an id, enough to tell it from its neighbours. */
export const shortId = (id: string) => `…${id.slice(-8)}`;
