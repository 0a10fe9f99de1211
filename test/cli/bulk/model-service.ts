import type { SendingClient } from '../../../src/cli/bulk/send/send-once.js';
import { FakeProject } from '../../support/fake-project.js';

export class Refused extends Error {
  readonly retryAfter: number | null = null;
  constructor(
    readonly code: string,
    readonly status: number | null,
    fields: Record<string, unknown> = {},
  ) {
    super(code);
    Object.assign(this, fields);
  }
}

/** The fake project, called without HTTP. */
export class ModelService extends FakeProject {
  readonly keys: string[] = [];

  /** How many messages each recipient got. */
  get accepted(): ReadonlyMap<string, number> {
    return this.received();
  }

  /** What the service answers; throws `Refused`. */
  handle(params: unknown, key: string): object {
    const { status = 200, body, headers } = this.post('sms', (params as { to: string | string[] }).to, key);
    if (status < 300) return body as object;
    const { code, ...fields } = (body as { error: { code: string } }).error;
    const retryAfter = headers?.['Retry-After'];
    throw new Refused(
      code,
      status,
      retryAfter === undefined ? fields : { ...fields, retryAfter: Number(retryAfter) },
    );
  }
}

/** A client whose every send goes through `way`, which may lose, delay, repeat or garble it. */
export function clientOf(
  service: ModelService,
  way: (call: () => object) => Promise<object> = async (call) => call(),
): SendingClient {
  return {
    send({ body, idempotencyKey }) {
      service.keys.push(idempotencyKey);
      return way(() => service.handle(JSON.parse(body), idempotencyKey));
    },
    balance: { get: () => Promise.resolve({ balance: service.balance }) },
  };
}
