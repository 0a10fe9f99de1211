import { grouped } from '../text/wording.js';
import { masked } from './mask.js';
import type { Column } from './view.js';

/** A cell for people, with local time and grouped numbers. */
export function shown<Row>(column: Column<Row>, row: Row, mask: boolean): string {
  if (column.words !== undefined) return column.words(row);
  if (column.kind === 'number') {
    const value = column.value(row);
    if (typeof value === 'number' && Number.isInteger(value)) return grouped(value);
  }
  const text = written(column, row, mask);
  return column.kind === 'time' && text !== '' ? localTime(text) : text;
}

/** A cell for programs, with ISO time. */
export function written<Row>(column: Column<Row>, row: Row, mask: boolean): string {
  const value = column.value(row);
  if (value === null || value === undefined) return '';
  // JSON has no such numbers either.
  if (typeof value === 'number' && !Number.isFinite(value)) return '';
  const text = String(value);
  return mask && column.kind === 'recipient' ? masked(text) : text;
}

/** `2026-11-21 08:25:00` in the local time zone; other texts are unchanged. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
