import type { TableFormat } from '../../input/table.js';
import type { PlanMeta } from '../plan.js';
import type { FileChecksum } from './buffered-file.js';

/** The files of a plan with a checksum in `plan.json`. */
export const dataFiles = ['bodies', 'chunks', 'lines', 'places', 'errors', 'input.csv'] as const;
export type DataFile = (typeof dataFiles)[number];
/** Only in a plan with rows of other jobs. */
export const originsFile = 'origins' as const;

/**
 * The folder of a plan.
 *
 * - `plan.json`: a line with the version and the SHA-256 of the rest, which is this record as JSON. Version 1
 *   has no such line.
 * - `bodies`: the request bodies one after the other, with nothing between them; its SHA-256 is the digest.
 * - `chunks` (the name of requests in version 1): 24 bytes a request, little-endian: the offset of its body
 *   (double), its credits (double), the position of its first recipient among all (uint32), 1 for a batch and 0 for a
 *   single send (uint32).
 * - `lines`: the input line of every recipient (uint32), in the order of the bodies.
 * - `places`: 8 bytes a row of the input: its request and its index in it (uint32 each), or one of `noRequest`.
 * - `errors`: a JSON line for every RowError, in the order of the rows.
 * - `input.csv`: the rows and the header of the input, as UTF-8.
 * - `origins`: a JSON line for every Origin.
 */
export interface PlanRecord {
  meta: PlanMeta;
  table: TableFormat;
  files: Record<DataFile, FileChecksum> & { [originsFile]?: FileChecksum | undefined };
}

/** Rows of a plan that were taken from another job: their lines there, all of those with one status. */
export type Origin = [job: string, status: string, lines: number[]];

export const planFile = 'plan.json';
export const planKind = 'urtuu-plan';
export const requestBytes = 24;
export const placeBytes = 8;

/** In `plan.json` the number of requests is called `chunks`, as in version 1. */
export type WrittenMeta = Omit<PlanMeta, 'requests'> & { chunks: number };
export const writtenMeta = ({ requests, ...meta }: PlanMeta): WrittenMeta => ({ ...meta, chunks: requests });
export const metaOf = ({ chunks, ...meta }: WrittenMeta): PlanMeta => ({ ...meta, requests: chunks });

/** Placeholders for the request of a row without one. */
export const noRequest = {
  /** Its errors are in `errors`. */
  rejected: 0xffff_ffff,
  /** Left out by `--where`, `--only`, `--skip-sent` or `--first`. */
  skipped: 0xffff_fffe,
  /** Left out by `--exclude`. */
  excluded: 0xffff_fffc,
  /** An earlier row sends a different message to the same recipient; the index is the line of that row. */
  conflict: 0xffff_fffd,
} as const;

/** An entry of `errors`; `row` counts the rows below the header from 0. */
export interface RowError {
  row: number;
  line: number;
  column: string;
  error: string;
}
