import { joinsWithin, type Receipt } from '../../dispatching.js';
import type { DeliveryState, Instant } from '../../records.js';
import type { Database } from '../database/database.js';
import type { Reports } from './reports.js';

/** A carrier repeats the end of a message's id. */
const isNamed = (message: string, reference: string) =>
  `substr(${message}.id, -length(${reference})) = ${reference}`;

/** Milliseconds between the acceptance of a message in doubt and a submission that may be its own. */
const submittedWithin = 2 * 86_400_000;

/** One row for each route, carrier id and recipient. The functions write inside their caller's transaction. */
export function prepareReceipts(database: Database, reports: Reports, now: () => Instant) {
  const submit = database.prepare(
    `INSERT INTO receipts (route, carrier_id, recipient, message, submitted_at)
     VALUES (:route, :carrierId, :to, :seq, :now)
     ON CONFLICT DO UPDATE SET message = excluded.message, submitted_at = excluded.submitted_at,
       state = CASE WHEN receipts.message IS NULL AND received_at > :now - ${joinsWithin} AND received_at >=
         (SELECT coalesce(marked_at, created_at) FROM messages WHERE seq = :seq) THEN state END
     RETURNING other`,
  );
  // Until its message is known, an earlier one of the same id may be of another.
  const receive = database.prepare(
    `INSERT INTO receipts (route, carrier_id, recipient, state, received_at, reference, other)
     VALUES (:route, :carrierId, :to, :state, :now, :reference, :other)
     ON CONFLICT DO UPDATE SET received_at = excluded.received_at, reference = excluded.reference, other = excluded.other,
       message = CASE WHEN submitted_at > :now - ${joinsWithin} THEN message END,
       state = CASE WHEN submitted_at > :now - ${joinsWithin}
         AND state IN ('delivered', 'undelivered', 'bounced') THEN state ELSE excluded.state END`,
  );
  const selectMessage = database.prepare(
    'SELECT message FROM receipts WHERE route = ? AND carrier_id = ? AND recipient = ?',
  );
  const deleteUnjoined = database.prepare(
    'DELETE FROM receipts WHERE route = ? AND carrier_id = ? AND recipient = ? AND message IS NULL',
  );
  const selectStates = database.prepare('SELECT state FROM receipts WHERE message = ?');
  const updateDelivery = database.prepare(
    `UPDATE messages SET delivery = :state, doubt_until = NULL
     WHERE seq = :seq AND status = 'sent' AND (delivery IS NULL OR delivery = 'unknown')`,
  );
  const selectDelivery = database.prepare('SELECT delivery FROM messages WHERE seq = ?');
  // In doubt nobody knows the number of segments: at most that of the parts.
  const selectFewest = database.prepare(
    'SELECT parts FROM messages WHERE seq = ? AND doubt_until IS NOT NULL',
  );
  // A message that ended as unknown keeps the end of its doubt, so that a receipt can still find it.
  const selectMeant = database.prepare(
    `SELECT seq, status, doubt_until IS NOT NULL AND (status = 'queued' OR delivery = 'unknown') AS isInDoubt
     FROM messages m INDEXED BY messages_recent
     WHERE project IN (SELECT seq FROM projects) AND recipient = :to AND created_at > :now - ${joinsWithin}
       AND (route = :route OR route = '') AND ${isNamed('m', ':reference')}
       AND (:submittedAt IS NULL OR abs(created_at - :submittedAt) <= ${submittedWithin}) LIMIT 2`,
  );

  // A receipt that arrived before the mark is of an older message; one that also names others may be.
  const selectOwn = database.prepare(
    `SELECT r.carrier_id AS carrierId FROM messages m
     CROSS JOIN receipts r ON r.recipient = m.recipient AND r.message IS NULL
     WHERE m.seq = :seq AND r.state IS NOT NULL AND (r.route = m.route OR m.route = '')
       AND r.received_at >= coalesce(m.marked_at, m.created_at) AND r.received_at > :now - ${joinsWithin}
       AND r.reference <> '' AND ${isNamed('m', 'r.reference')}
       AND NOT EXISTS (SELECT 1 FROM messages o INDEXED BY messages_recent
         WHERE o.project IN (SELECT seq FROM projects) AND o.recipient = m.recipient
           AND o.created_at > :now - ${joinsWithin} AND o.seq <> m.seq AND o.route = r.route
           AND ${isNamed('o', 'r.reference')})
     ORDER BY r.carrier_id`,
  );

  /** The state of a message from those of its segments: delivered if all are, undelivered if one is. */
  function stateOf(seq: number): DeliveryState | null {
    const states = (selectStates.all(seq) as { state: DeliveryState | null }[]).map(({ state }) => state);
    const bad = states.find((state) => state === 'bounced' || state === 'undelivered');
    if (bad !== undefined) return bad;
    const { parts } = (selectFewest.get(seq) as { parts: number | null } | undefined) ?? { parts: 1 };
    if (states.length < (parts ?? 1) || states.includes(null)) return null;
    return states.every((state) => state === 'delivered') ? 'delivered' : 'unknown';
  }

  const deliveryOf = (seq: number): DeliveryState | null =>
    (selectDelivery.get(seq) as { delivery: DeliveryState | null } | undefined)?.delivery ?? null;

  function updateMessage(seq: number): DeliveryState | null {
    const state = stateOf(seq);
    if (state !== null) updateDelivery.run({ seq, state });
    return deliveryOf(seq);
  }

  function updateReported(seq: number): void {
    const before = deliveryOf(seq);
    if (updateMessage(seq) !== before) reports.delivered(seq, now());
  }

  /** What is kept under another id of the same receipt goes. */
  function join(seq: number, route: string, to: string, carrierIds: readonly string[]): void {
    for (const carrierId of carrierIds) {
      const { other } = submit.get({ route, carrierId, to, seq, now: now() }) as { other: string | null };
      if (other !== null) deleteUnjoined.run(route, other, to);
    }
  }

  return {
    /** Carrier ids of receipts that arrived before the message was in doubt and belong to it. */
    ownOf: (seq: number): string[] =>
      (selectOwn.all({ seq, now: now() }) as { carrierId: string }[]).map(({ carrierId }) => carrierId),
    /** Stores the submission's side; returns the delivery that receipts have already reported. */
    submitted(seq: number, route: string, to: string, carrierIds: readonly string[]): DeliveryState | null {
      if (carrierIds.length === 0) return null;
      join(seq, route, to, carrierIds);
      return updateMessage(seq);
    },
    /** Stores the receipt's side. Returns the number of a message in doubt that it matches, to be finalized with it. */
    received({
      route,
      carrierId,
      otherId = null,
      to,
      state,
      reference,
      submittedAt,
    }: Receipt): number | null {
      const given = { route, to, state, now: now() };
      // Without a reference for the other id: one row of a receipt is enough for a message in doubt.
      const names = [{ carrierId, other: otherId, reference }];
      if (otherId !== null) names.push({ carrierId: otherId, other: carrierId, reference: '' });
      for (const name of names) {
        receive.run({ ...given, ...name });
        const known = (selectMessage.get(route, name.carrierId, to) as { message: number | null }).message;
        if (known === null) continue;
        if (name.other !== null) deleteUnjoined.run(route, name.other, to);
        updateReported(known);
        return null;
      }
      // An unknown id alone may be of anybody's message to that number.
      if (reference === '') return null;
      const meant = selectMeant.all({ to, route, reference, submittedAt, now: now() });
      const [only] = meant as { seq: number; status: string; isInDoubt: number }[];
      if (only === undefined || meant.length > 1 || only.isInDoubt !== 1) return null;
      if (only.status === 'queued') return only.seq;
      join(only.seq, route, to, [carrierId]);
      updateReported(only.seq);
      return null;
    },
  };
}

export type Receipts = ReturnType<typeof prepareReceipts>;
