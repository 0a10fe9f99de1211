import type { Clock } from '../../clock.js';
import { type Admission, type Admitted, everyScope, scopeOf } from '../admission.js';
import { type Bucket, type RateLimiter, type Taken, takeToken } from '../rate-limiter.js';
import { blockMs } from '../route-limits.js';
import { boundOf } from '../shared/rows.js';
import type { Database } from './database/database.js';
import { orUnavailable } from './database/failure.js';
import { Groups } from './database/groups.js';

/** The argument of admission_1 in the schema. */
interface Item {
  hash: string | null;
  project: string | null;
  kind: string;
  bucket: Bucket | null;
  key: string | null;
}

interface AdmittedRow {
  ord: number;
  project: string;
  key_id: string | null;
  /** Null for a caller whose key is not stored. */
  scope: string | null;
  project_name: string | null;
  settings: string | null;
  has_answer: boolean;
  status: number | null;
  body: string | null;
  full_at: number | null;
  at: number;
}

type AdmittedItem = AdmittedRow & { taken: Taken | null };

/**
 * The one call before requests, for all that arrive together. `observe` receives the database's time and when it was
 * requested.
 */
export function createAdmission(
  database: Database,
  clock: Clock,
  report: (error: unknown) => void,
  observe: (at: number, since: number) => void,
) {
  const groups = new Groups<Item, AdmittedItem | null>(async (items) => {
    const written = items.map(({ bucket, ...rest }) => ({
      ...rest,
      spacing: bucket?.interval,
      burst: bucket?.burst,
    }));
    const since = clock.monotonic();
    const rows = await database.attempt<AdmittedRow>('SELECT * FROM :s.admit_1($1::bigint, $2::json)', [
      database.now(),
      JSON.stringify(written),
    ]);
    if (rows[0] !== undefined) observe(rows[0].at, since);
    const found = new Map(rows.map((row) => [row.ord - 1, row]));
    /** When each bucket is full, while its tokens are given out one by one as the database took them. */
    const fullAt = new Map<string, number>();
    return items.map(({ bucket, kind }, index) => {
      const row = found.get(index);
      if (row === undefined) return null;
      if (bucket === null) return { ...row, taken: null };
      const name = `${kind} ${row.project}`;
      const { fullAt: after, ...taken } = takeToken(fullAt.get(name) ?? row.full_at, bucket, row.at);
      fullAt.set(name, after);
      return { ...row, taken };
    });
  });

  const add = (item: Item) => orUnavailable(groups.add(item), report);

  async function admit({ caller, kind, bucket, idempotencyKey }: Admission): Promise<Admitted | null> {
    const who =
      'hash' in caller
        ? { hash: Buffer.from(caller.hash).toString('hex'), project: null }
        : { hash: null, project: caller.projectId };
    const row = await add({ ...who, kind, bucket, key: idempotencyKey });
    if (row === null) return null;
    const { project: projectId, project_name: name, settings, scope, taken } = row;
    const isKnown = row.has_answer && taken?.allowed !== false;
    return {
      projectId,
      keyId: 'hash' in caller ? (row.key_id ?? '') : caller.keyId,
      scope: scope === null ? everyScope : scopeOf(scope),
      taken,
      project: name === null || settings === null ? null : { name, settings },
      answer: isKnown ? boundOf(row.status, row.body) : undefined,
    };
  }

  const rateLimiter: RateLimiter = {
    async take(project, kind, bucket) {
      const row = await add({ hash: null, project, kind, bucket, key: null });
      if (row === null || row.taken === null) throw new Error('the database took no token');
      return row.taken;
    },
    async takePermits(route, perSecond, wanted) {
      const [row] = await database.query<{ granted: number; wait_ms: number; factor: number }>(
        'SELECT * FROM :s.take_turns_2($1::bigint, $2::text, $3::double precision, $4::int, $5::double precision)',
        [database.now(), route, perSecond, wanted, blockMs],
      );
      return { granted: row?.granted ?? 0, waitMs: row?.wait_ms ?? blockMs, factor: row?.factor ?? 1 };
    },
    async lowerRate(route, perSecond, answeredMs) {
      const [row] = await database.query<{ factor: number }>(
        'SELECT :s.lower_rate_1($1::bigint, $2::text, $3::double precision, $4::double precision) AS factor',
        [database.now(), route, perSecond, answeredMs],
      );
      return row?.factor ?? 1;
    },
    async reset() {
      await database.query('DELETE FROM :s.buckets');
    },
    // Its connections are closed with the others.
    close: async () => {},
  };

  return { admit, rateLimiter };
}
