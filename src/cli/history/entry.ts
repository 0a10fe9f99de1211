import type { Channel } from '../../contract/index.js';

/** A send from this machine, without its text; a bulk job is one entry, with its counts. */
export interface HistoryEntry {
  /** ISO 8601, UTC. */
  time: string;
  /** `sandbox` for the embedded service. */
  base_url: string;
  /** Null for the embedded service. */
  profile: string | null;
  /** `sms send` */
  command: string;
  /** Null for several recipients. */
  to: string | null;
  channel: Channel | null;
  /** Of the message, batch or verification. */
  id: string | null;
  /** The service's answer; `in_doubt` without one. For a job, `finished` or `unfinished`. */
  status: string;
  /** The idempotency key. */
  key: string | null;
  job: string | null;
  /** Charged at acceptance; null if this machine does not know it. */
  credits?: number | null;
  /** The counts of a job; only `planned` while it runs, or if its process was killed. */
  planned?: number;
  accepted?: number;
  sent?: number;
  unknown?: number;
  queued?: number;
  failed?: number;
  rejected?: number;
  moved?: number;
  in_doubt?: number;
  pending?: number;
}

export type Sent = Pick<HistoryEntry, 'command' | 'status'> & Partial<HistoryEntry>;

export const newestFirst = (a: HistoryEntry, b: HistoryEntry): number =>
  a.time < b.time ? 1 : a.time > b.time ? -1 : 0;

/** What an entry is about, such as a job or a key, to recognise later entries about it. */
export const subjectOf = ({ base_url, job, key, id }: HistoryEntry): string | null => {
  const subject = job ?? key ?? id;
  return subject === null ? null : `${base_url} ${job === null ? '' : 'job '}${subject}`;
};
