import type { Clock } from '../../../clock.js';
import { leaseTolerance } from '../../shared/clock-tolerance.js';
import { isGone, thisProcess } from '../../shared/processes.js';
import type { Database } from '../database/database.js';
import type { MessageRun } from './runs.js';

interface LeaseRow {
  token: string;
  until: number;
  first_message: number;
  last_message: number;
  runs: string | null;
  length: number;
  holder: string | null;
}

/** Milliseconds between checks for processes that are gone. */
const lookEvery = 1_000;
/** For leases of an older release, which had none. */
const usualDoubt = 300_000;

/** Which process holds what until when. The functions write inside their caller's transaction. */
export function prepareLeases(database: Database, clock: Clock) {
  const insert = database.prepare(
    `INSERT INTO leases (token, until, first_message, last_message, runs, open, length, holder)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const renew = database.prepare('UPDATE leases SET until = ?, length = ? WHERE token = ?');
  const close = database.prepare('DELETE FROM leases WHERE token = ? AND open <= ?');
  const shrink = database.prepare('UPDATE leases SET open = open - ? WHERE token = ?');
  const remove = database.prepare('DELETE FROM leases WHERE token = ?');
  const selectLease = database.prepare('SELECT lease FROM messages WHERE seq = ?');
  const selectAll = database.prepare('SELECT * FROM leases');
  const selectAny = database.prepare('SELECT 1 FROM leases LIMIT 1');
  const selectHolders = database.prepare(
    'SELECT DISTINCT holder FROM leases WHERE holder IS NOT NULL AND holder <> ?',
  );
  // A lease that ends later than possible was granted before the clock was set back, and has expired.
  const selectNextEnd = database.prepare(
    `SELECT min(CASE WHEN until > :now + length + ${leaseTolerance} THEN 0
       ELSE max(until - :now, length - :connected) END) AS wait FROM leases`,
  );
  const free = database.prepare(
    `UPDATE messages SET lease = NULL, due_at = ?
     WHERE seq BETWEEN ? AND ? AND lease = ? AND route IS NULL`,
  );
  const doubt = database.prepare(
    `UPDATE messages SET lease = NULL, due_at = :now,
       doubt_until = coalesce(doubt_until, :now + coalesce(doubt_ms, ${usualDoubt}))
     WHERE seq BETWEEN :first AND :last AND lease = :token AND route IS NOT NULL`,
  );
  const connectedAt = clock.monotonic();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let gone = new Set<string>();

  const connectedFor = () => clock.monotonic() - connectedAt;

  /** Ended processes that hold leases. */
  function goneHolders(): ReadonlySet<string> {
    if (clock.monotonic() - lookedAt < lookEvery) return gone;
    lookedAt = clock.monotonic();
    const holders = selectHolders.all(thisProcess()) as { holder: string }[];
    gone = new Set(holders.map(({ holder }) => holder).filter(isGone));
    return gone;
  }

  function isOver({ until, length, holder }: LeaseRow, now: number): boolean {
    if (until > now + length + leaseTolerance) return true;
    if (holder !== null && goneHolders().has(holder)) return true;
    return until <= now && connectedFor() >= length;
  }

  function end({ token, until, first_message, last_message, runs }: LeaseRow, now: number): void {
    const all = runs === null ? [[first_message, last_message] as const] : (JSON.parse(runs) as MessageRun[]);
    for (const [first, last] of all) {
      free.run(Math.min(until, now), first, last, token);
      doubt.run({ now, first, last, token });
    }
    remove.run(token);
  }

  return {
    open({ token, leaseMs }: { token: string; leaseMs: number }, runs: readonly MessageRun[]): void {
      const messages = runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
      const first = runs[0]?.[0] ?? 0;
      const last = runs.at(-1)?.[1] ?? 0;
      // Messages of many projects are far apart, with all others in between.
      const written = runs.length === 1 ? null : JSON.stringify(runs);
      insert.run(token, clock.now() + leaseMs, first, last, written, messages, leaseMs, thisProcess());
    },
    /** False if the lease was ended. */
    renew: (token: string, leaseMs: number) => renew.run(clock.now() + leaseMs, leaseMs, token).changes === 1,
    /** Counts messages that leave their leases; call `write` at the end. */
    departures() {
      const counts = new Map<string, number>();
      const add = (token: string, messages: number) =>
        void counts.set(token, (counts.get(token) ?? 0) + messages);
      return {
        add,
        /** `update` takes the message out of its lease, which need not be the caller's. */
        leave(seq: number, update: () => { changes: number | bigint }): boolean {
          const row = selectLease.get(seq) as { lease: string | null } | undefined;
          const hasLeft = update().changes === 1;
          if (hasLeft && row?.lease) add(row.lease, 1);
          return hasLeft;
        },
        write(): void {
          for (const [token, messages] of counts)
            if (close.run(token, messages).changes === 0) shrink.run(messages, token);
        },
      };
    },
    endOver(): void {
      const now = clock.now();
      for (const row of selectAll.all() as LeaseRow[]) if (isOver(row, now)) end(row, now);
      gone = new Set();
    },
    /** Includes holders that are alive, while nobody can mark. A lease without messages is a reset. */
    endAll(): void {
      const now = clock.now();
      for (const row of selectAll.all() as LeaseRow[]) {
        if (row.first_message <= row.last_message) end(row, now);
      }
    },
    isAny: () => selectAny.get() !== undefined,
    /** Milliseconds until the first lease can be ended; null if there is none. */
    untilEnd(): number | null {
      const now = clock.now();
      const { wait } = selectNextEnd.get({ now, connected: connectedFor() }) as { wait: number | null };
      return wait === null ? null : goneHolders().size > 0 ? 0 : wait;
    },
  };
}

export type Leases = ReturnType<typeof prepareLeases>;

/** SQL: each run of each lease l, and what its messages m are joined by. */
export const leaseRuns = `leases l
  CROSS JOIN json_each(coalesce(l.runs, json_array(json_array(l.first_message, l.last_message)))) run`;
export const inLeaseRun = 'm.seq BETWEEN run.value ->> 0 AND run.value ->> 1 AND m.lease = l.token';
export const leasedMessages = `${leaseRuns} CROSS JOIN messages m ON ${inLeaseRun}`;
