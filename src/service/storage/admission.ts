import type { Bucket, Taken } from './rate-limiter.js';
import type { BoundAnswer } from './records.js';

export interface Admission {
  /** SHA-256 of the secret of an API key, or a caller whose key is not stored. */
  caller: { hash: Uint8Array } | { projectId: string; keyId: string };
  kind: string;
  /** Null lets every request pass. */
  bucket: Bucket | null;
  idempotencyKey: string | null;
}

export interface Admitted {
  projectId: string;
  keyId: string;
  /** Null without a bucket. */
  taken: Taken | null;
  /** As `findAnswer` gives it; undefined too without a key and over the rate. */
  answer: BoundAnswer | null | undefined;
}
