import type { RequestKey } from '../job/keys.js';
import type { PlannedRequest } from '../plan/plan.js';

export interface RequestBody {
  kind: PlannedRequest['kind'];
  /** The recipients of this body, and their positions in the planned request. */
  to: string[];
  readonly indexes: number[];
  /** JSON text, sent verbatim. */
  text: string;
  idempotencyKey: string;
}

/** The body of a request in a revision: the frozen bytes, or a new body without the removed recipients. */
export function bodyOf(
  keyOf: RequestKey,
  request: PlannedRequest,
  revision: number,
  removed: Pick<ReadonlySet<number>, 'has' | 'size'>,
): RequestBody {
  const { number, kind } = request;
  const idempotencyKey = keyOf(number, revision);
  if (removed.size === 0)
    return {
      kind,
      to: request.to,
      get indexes() {
        return [...request.to.keys()];
      },
      text: request.body,
      idempotencyKey,
    };
  const indexes = [...request.to.keys()].filter((index) => !removed.has(index));
  const to = indexes.map((index) => request.to[index] ?? '');
  const text = JSON.stringify({ ...JSON.parse(request.body), to });
  return { kind, to, indexes, text, idempotencyKey };
}
