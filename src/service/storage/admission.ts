import type { Bucket, Taken } from './rate-limiter.js';
import type { BoundAnswer, KeyScope, ProjectRecord } from './records.js';

/** Milliseconds between two records of the use of a key. */
export const keyUseEvery = 60_000;

export const everyScope: readonly KeyScope[] = ['send', 'read', 'inbox'];
/** Of a new key, unless its owner says otherwise: keys of earlier releases have no other. */
export const usualScope: readonly KeyScope[] = ['send', 'read'];

/** As stored: `send,read`. A word of a later release is none. */
export const scopeOf = (written: string): KeyScope[] =>
  everyScope.filter((each) => written.split(',').includes(each));

export interface Admission {
  /** SHA-256 of the secret of an API key, or a caller whose key is not stored. */
  caller: { hash: Uint8Array } | { projectId: string; keyId: string };
  kind: string;
  /** Null to let every request pass. */
  bucket: Bucket | null;
  idempotencyKey: string | null;
}

export interface Admitted {
  projectId: string;
  keyId: string;
  /** Every scope for a caller whose key is not stored. */
  scope: readonly KeyScope[];
  /** Null without a bucket. */
  taken: Taken | null;
  /** Null if it was not read with the key. */
  project: Pick<ProjectRecord, 'name' | 'settings'> | null;
  /** As returned by `findAnswer`; also undefined without a key, and over the rate. */
  answer: BoundAnswer | null | undefined;
}
