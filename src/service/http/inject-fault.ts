import { ServiceError } from '../errors/service-error.js';
import type { RequestFault } from '../fault-injection/faults.js';
import type { SendCall } from '../operations/operations.js';
import type { WrittenAnswer } from './call.js';

/** The fault to inject for a recipient, as written by the caller. */
export type FaultFor = (recipient: string) => RequestFault | null;

/** True once for a name, until a reset. */
export type IsFirst = (name: string) => Promise<boolean>;

/** Makes an in-process call reject like a failed fetch; over a socket, the connection is cut. */
export class ConnectionDropped extends TypeError {
  constructor() {
    const cause = Object.assign(new Error('the connection was dropped on demand'), { code: 'ECONNRESET' });
    super('fetch failed', { cause });
  }
}

const proxyPage = '<html><body><h1>502 Bad Gateway</h1></body></html>';

type Sent = SendCall<{ to: string | string[] }>;

/** Injects faults into requests; with an idempotency key, only into the first one. */
export function faultInjector(faultFor: FaultFor | undefined, isFirst: IsFirst) {
  async function faultOf({ caller, params, idempotencyKey: key }: Sent): Promise<RequestFault | null> {
    if (faultFor === undefined) return null;
    for (const recipient of [params.to].flat()) {
      // An entry of a list may have any type.
      const fault = typeof recipient === 'string' ? faultFor(recipient) : null;
      if (fault === null) continue;
      const isRepeat = key !== null && !(await isFirst(`${caller.projectId} ${key}`));
      return isRepeat ? null : fault;
    }
    return null;
  }

  return async (sent: Sent, answer: () => Promise<WrittenAnswer>): Promise<WrittenAnswer> => {
    switch (await faultOf(sent)) {
      case null:
        return answer();
      case 'drop_before':
        throw new ConnectionDropped();
      case 'drop_after':
        await answer();
        throw new ConnectionDropped();
      case 'answer_500':
        throw new ServiceError('unavailable', 'Injected fault: HTTP 500', { status: 500 });
      case 'answer_429':
        throw new ServiceError('rate_limited', 'Injected fault: HTTP 429', { retryAfter: 1 });
      case 'answer_html':
        return { status: 502, headers: { 'Content-Type': 'text/html' }, body: proxyPage };
    }
  };
}

export type InjectFault = ReturnType<typeof faultInjector>;
