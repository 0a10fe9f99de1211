import type { TableFormat } from '../input/table-parser.js';
import type { FileSeal } from './buffered-file.js';
import type { PlanMeta } from './plan.js';

/** The files of a plan that its seal covers. */
export const sealedFiles = ['bodies', 'chunks', 'lines', 'places', 'errors', 'input.csv'] as const;
export type SealedFile = (typeof sealedFiles)[number];

/**
 * A plan's folder.
 *
 * - `plan.json`: a line with the version and the SHA-256 of the rest, which is this record as JSON. Version 1
 *   has no such line.
 * - `bodies`: the request bodies one after the other, with nothing between them; its SHA-256 is the digest.
 * - `chunks` (version 1 called requests so): 24 bytes a request, little-endian: where its body begins (double),
 *   its credits (double), where its recipients begin among all of them (uint32), 1 for a batch and 0 for a single
 *   send (uint32).
 * - `lines`: the input line of every recipient (uint32), in the order of the bodies.
 * - `places`: 8 bytes a row of the input: its request and its index in it (uint32 each), or one of `noRequest`.
 * - `errors`: a JSON line for everything that is wrong with a row, in the order of the rows.
 * - `input.csv`: the rows and the header of the input, as UTF-8.
 */
export interface PlanRecord {
  meta: PlanMeta;
  table: TableFormat;
  files: Record<SealedFile, FileSeal>;
}

export const planFile = 'plan.json';
/** What `plan.json` begins with, before the version and the checksum. */
export const planMark = 'urtuu-plan';
export const requestBytes = 24;
export const placeBytes = 8;

/** In `plan.json` the number of requests is `chunks`, as in version 1. */
export type WrittenMeta = Omit<PlanMeta, 'requests'> & { chunks: number };
export const writtenMeta = ({ requests, ...meta }: PlanMeta): WrittenMeta => ({ ...meta, chunks: requests });
export const metaOf = ({ chunks, ...meta }: WrittenMeta): PlanMeta => ({ ...meta, requests: chunks });

/** Stands in the place of a request's number for a row that is in none. */
export const noRequest = {
  /** Its errors are in `errors`. */
  rejected: 0xffff_ffff,
  /** `--only` did not choose it. */
  notChosen: 0xffff_fffe,
  /** Its recipient has another message; the index is the line of that row. */
  conflict: 0xffff_fffd,
} as const;

/** One entry of `errors`; `row` counts the rows below the header from 0. */
export interface RowError {
  row: number;
  line: number;
  column: string;
  error: string;
}
