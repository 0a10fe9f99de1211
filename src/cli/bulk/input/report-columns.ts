import { plainName } from './header.js';

/** The columns a report adds to those of the list. */
export const reportColumns = [
  'message_id',
  'batch_id',
  'status',
  'error_code',
  'credits',
  'line',
  'delivery',
  'job',
];
/** The columns a rejects file adds. */
export const rejectsColumns = ['line', 'error'];

const addedColumns = [...reportColumns, 'error'];

/** Names that hardly any list has. People remove columns, so two of them show a report. */
const reportMarkers = ['message_id', 'batch_id', 'error_code'];
/** Another service's list may have ids and error codes, but not so many of a report's columns. */
const fewestOfReport = 4;

/** The columns that this program added to a file, by their usual name, as indexes. */
export type OwnColumns = ReadonlyMap<string, number>;

/**
 * Empty for a file that is neither a report nor a rejects file; both are known by their names, in any order. A prefixed
 * column beside the list's own is certain: this program gave it that name.
 */
export function ownColumns(columns: readonly string[]): OwnColumns {
  const found = likeAdded(columns);
  const countOf = (names: readonly string[]) => names.filter((name) => found.has(name)).length;
  const isRejects = countOf(rejectsColumns) === rejectsColumns.length;
  const isOfReport = countOf(reportMarkers) > 1 && countOf(reportColumns) >= fewestOfReport;
  const own = [...(isRejects ? rejectsColumns : []), ...(isOfReport ? reportColumns : [])];
  const isCertain = (name: string, { prefixes, fewest }: Alike) => own.includes(name) || prefixes > fewest;
  return new Map([...found].flatMap(([name, at]) => (isCertain(name, at) ? [[name, at.index]] : [])));
}

/** Index of a report's column, also in a report that has lost the columns that show it; -1 for none. */
export const reportColumn = (columns: readonly string[], name: string): number =>
  likeAdded(columns).get(name)?.index ?? -1;

const ownNames = /\.rejected(?:-\d{1,2})?\.(?:csv|xlsx)$|[/\\]rejects[/\\][^/\\]{0,60}-[\da-f]{12}\.csv$/i;

/** Whether a file has a name that this program gives to rejects files, which may have lost both of their columns. */
export const isOwnName = (source: string): boolean => ownNames.test(source.split('!')[0] ?? '');

export const isReport = (own: OwnColumns): boolean => own.has('error_code') || own.has('batch_id');

/** Whether a file may be a report or rejects file that has lost the columns that show it. */
export const mayBeOwn = (columns: readonly string[]): boolean => likeAdded(columns).size > 0;

/**
 * As they are written: a number, and `phone: is empty`. Others may be the list's own, such as the line of a bus and the
 * error of a machine.
 */
const isRejected = (line = '', error = ''): boolean =>
  /^\d+$/.test(line) && /: |^same recipient as line \d/.test(error);

interface Rows {
  meta: { columns: readonly string[] };
  rows(): AsyncIterable<{ values: readonly string[] }>;
}

/** Indexes of the columns that a new report or rejects file keeps: all except those that it replaces. */
export async function keptColumns(plan: Rows, added: readonly string[]): Promise<number[]> {
  const { columns } = plan.meta;
  const own = ownColumns(columns);
  let isCertain = isReport(own);
  if (!isCertain && own.get('line') === columns.length - 2 && own.get('error') === columns.length - 1)
    for await (const { values } of plan.rows()) {
      isCertain = isRejected(...values.slice(columns.length - 2, columns.length));
      break;
    }
  const replaced = new Set(isCertain ? added.map((name) => own.get(name)) : []);
  return columns.flatMap((_, index) => (replaced.has(index) ? [] : [index]));
}

/** The names of added columns beside those of a list: `line`, or `urtuu_line` if it has a line of its own. */
export function addedNames(added: readonly string[], kept: readonly string[]): string[] {
  const taken = likeAdded(kept);
  return added.map((name) => prefix.repeat((taken.get(name)?.prefixes ?? -1) + 1) + name);
}

const prefix = 'urtuu_';
const plainPrefix = 'urtuu ';
const usualNames = new Map(addedColumns.map((name) => [plainName(name), name]));

interface Alike {
  index: number;
  prefixes: number;
  /** Of all the columns with this name. */
  fewest: number;
}

/**
 * The columns with the name of an added one, whatever the case. Of several, it is the one with the most prefixes, then
 * the one that is written exactly so, then the last.
 */
function likeAdded(columns: readonly string[]): Map<string, Alike> {
  const found = new Map<string, Alike>();
  columns.forEach((column, index) => {
    let plain = plainName(column);
    let prefixes = 0;
    for (; plain.startsWith(plainPrefix); prefixes += 1) plain = plain.slice(plainPrefix.length);
    const name = usualNames.get(plain);
    if (name === undefined) return;
    const before = found.get(name);
    const isExact = before !== undefined && columns[before.index] === prefix.repeat(prefixes) + name;
    const fewest = Math.min(prefixes, before?.fewest ?? prefixes);
    const isNext =
      before === undefined || prefixes > before.prefixes || (prefixes === before.prefixes && !isExact);
    found.set(name, isNext ? { index, prefixes, fewest } : { ...before, fewest });
  });
  return found;
}
