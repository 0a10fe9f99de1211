import { acceptedAt } from '../../storage/sqlite/clock-corrections.js';

/** A table of the database, and the rows of the folder that fill it. */
export interface MovedTable {
  /** service.db, or operator.db. */
  file: 'store' | 'carrier';
  from: string;
  where?: string;
  to: string;
  /** Columns of `to` that identify a row and sort the same on both sides. */
  key: readonly string[];
  /** The columns of `to`, each an expression over a row of `from`. */
  columns: Readonly<Record<string, string>>;
  /** Columns of `to` that SQLite stores as 0 and 1, or as JSON. */
  booleans?: readonly string[];
  json?: readonly string[];
  /** Whether a sequence numbers `seq`. */
  isNumbered?: boolean;
}

/** Columns with the same name and form on both sides. */
const same = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, name]));

/** A message of a release without bounds waits indefinitely. */
const boundAt = 'coalesce(bound_at, created_at + 900000000000000)';
const countsAt = acceptedAt('seq', 'created_at');

/** A table of service.db that fills the one of its name, but for what `more` says. */
const table = (
  from: string,
  key: string,
  columns: MovedTable['columns'],
  more: Partial<MovedTable> = {},
): MovedTable => ({ file: 'store', from, to: from, key: key.split(' '), columns, ...more });

/** Ordered so that every row finds the rows it refers to. */
export const movedTables: readonly MovedTable[] = [
  table('projects', 'seq', same('seq id name balance settings created_at'), { isNumbered: true }),
  table(
    'keys',
    'id',
    same('id project hash prefix label created_by scope expires_at created_at revoked_at used_at'),
  ),
  table('ledger', 'seq', same('seq project amount reason subject_id note created_at'), { isNumbered: true }),
  table(
    'contents',
    'seq',
    { ...same('seq text html subject sender reply_to is_bulk'), encrypted: 'sealed' },
    { isNumbered: true, booleans: ['is_bulk'] },
  ),
  table(
    'batches',
    'seq',
    same('seq id project channel total sent failed credits created_at completed_at stopped_at pruned_at'),
    { isNumbered: true },
  ),
  table(
    'messages',
    'seq',
    {
      ...same(
        'seq id project batch content channel recipient mailbox operator status parts rate_multiplier credits',
      ),
      ...same('error_code error_message created_at sent_at refunded lane route attempts tries pending_key'),
      ...same('doubt_ms doubt_until delivery tried marked_at'),
      counts_at: countsAt,
      bound_at: boundAt,
    },
    { isNumbered: true, booleans: ['refunded'], json: ['tried'] },
  ),
  // In the database a claim deletes these rows; in the folder due_at has the same meaning once all leases have
  // expired.
  table(
    'messages',
    'message',
    {
      ...same('lane project'),
      class: 'CASE WHEN route IS NOT NULL THEN 2 WHEN batch IS NOT NULL OR is_bulk THEN 1 ELSE 0 END',
      batch: 'CASE WHEN route IS NOT NULL THEN 0 ELSE coalesce(batch, 0) END',
      message: 'seq',
      due_at: 'coalesce(due_at, created_at)',
      queued_at: countsAt,
      bound_at: boundAt,
    },
    { to: 'queue', where: "status = 'queued'" },
  ),
  table(
    'messages',
    'batch message',
    { batch: 'batch', message: 'seq' },
    { to: 'unknown_deliveries', where: "delivery = 'unknown' AND batch IS NOT NULL" },
  ),
  table('idempotency', 'project key', same('project key status body')),
  table('verifications', 'id', {
    ...same('id project message code_hash status attempts_remaining created_at verified_at'),
    life_ms: 'expires_at - created_at',
    counts_at: acceptedAt('message', 'created_at'),
  }),
  table(
    'receipts',
    'route carrier_id recipient',
    same('route carrier_id recipient message submitted_at state received_at reference other code'),
  ),
  table('requests', 'message', same('message attempt first_at sealed')),
  table('erasures', 'project pseudonym message', {
    ...same('project pseudonym message'),
    counts_at: 'accepted_at',
  }),
  table(
    'inbox',
    'seq',
    same('seq id project channel sender recipient subject text received_at fingerprint series parts'),
    { isNumbered: true, json: ['parts'] },
  ),
  table('suppressions', 'seq', same('seq project recipient reason created_at'), { isNumbered: true }),
  table('lanes', 'name', same('name has_normal_ids'), { booleans: ['has_normal_ids'] }),
  table('route_days', 'route', same('route slots reached_at')),
  table('lane_pauses', 'lane', same('lane paused_at')),
  table('prune_runs', 'one', same('one begun_at ended_at is_repeated'), { booleans: ['is_repeated'] }),
  table('left_ended', 'seq', same('seq ended at'), { isNumbered: true }),
  table(
    'deliveries',
    'seq',
    same('seq reference channel recipient text subject html sender reply_to route delivered_at'),
    { file: 'carrier', isNumbered: true },
  ),
  table('losses', 'name', { name: 'reference' }, { file: 'carrier', to: 'first_names' }),
  table('barred', 'reference', same('reference before'), { file: 'carrier', to: 'fences' }),
];

/** Data of the folder without a row or column in the database, with the reason. */
export const unmoved: Readonly<Record<string, string>> = {
  'store.installation': 'the id and the fingerprint of the secret are written by themselves',
  'store.moves': 'of the folder',
  'store.hold': 'set as the database opens',
  'store.clock_corrections': 'in counts_at of messages',
  'store.message_blocks': 'the database finds messages by their time otherwise',
  'store.leases': 'ended before',
  'store.turns': 'begin anew',
  'store.binds': 'leases of connections: ended',
  'store.instances': 'heartbeats: ended',
  'store.sign_ins': 'sessions of the dashboard: ended',
  'store.dashboard': 'where a service that ended listened',
  'store.projects.line': 'of events: ended',
  'store.event_lines': 'ended',
  'store.events': 'ended',
  'store.batches.first_message': 'messages name their batch',
  'store.messages.lease': 'ended before',
  'store.messages.is_bulk': 'in the class of the queue, and in contents',
  'store.idempotency.seq': 'the key is the primary key',
  'carrier.installation': 'of the folder',
};

/** Tables and columns of the database that a move leaves unchanged, with the reason. */
export const unfilled: Readonly<Record<string, string>> = {
  installation: 'written by itself',
  hold: 'set as the database opens',
  leases: 'ended',
  turns: 'begin anew',
  binds: 'ended',
  instances: 'ended',
  sign_ins: 'ended',
  dashboard: 'of a service that ended',
  resets: 'none is under way',
  'projects.line': 'of events: ended',
  event_lines: 'ended',
  events: 'ended',
  buckets: 'a burst for each project',
  route_rates: 'begin anew',
  urtuu_schema: 'of the schema',
  operator_schema: 'of the schema',
  'idempotency.message': 'not known, as for keys of an earlier release',
};
