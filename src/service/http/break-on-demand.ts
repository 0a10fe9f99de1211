import type { RequestFault } from '../fault-injection/faults.js';
import { ServiceError } from '../service-error.js';
import { write } from './answer.js';
import type { HttpContext } from './context.js';

/** The fault that a recipient, as it was written, asks for. */
export type FaultFor = (recipient: string) => RequestFault | null;

/** Whether nobody has asked with this name before, since the service was last emptied. */
export type IsFirst = (name: string) => Promise<boolean>;

/** In process this is what a failed fetch rejects with; over a socket the connection is cut. */
export class ConnectionDropped extends TypeError {
  constructor() {
    const cause = Object.assign(new Error('the connection was dropped on demand'), { code: 'ECONNRESET' });
    super('fetch failed', { cause });
  }
}

const proxyPage = '<html><body><h1>502 Bad Gateway</h1></body></html>';

/**
 * Breaks the requests whose recipients ask for it. With an idempotency key only the first request breaks and
 * its repeats go through; without one, every request does.
 */
export function breaksOnDemand(faultFor: FaultFor | undefined, isFirst: IsFirst) {
  async function faultOf(context: HttpContext, recipients: string | string[]): Promise<RequestFault | null> {
    if (faultFor === undefined) return null;
    for (const recipient of [recipients].flat()) {
      // In a list it may still be anything.
      const fault = typeof recipient === 'string' ? faultFor(recipient) : null;
      if (fault !== null) return (await isRepeat(context)) ? null : fault;
    }
    return null;
  }

  async function isRepeat(context: HttpContext): Promise<boolean> {
    const key = context.get('idempotencyKey');
    return Boolean(key) && !(await isFirst(`${context.get('caller').projectId} ${key}`));
  }

  return async (
    context: HttpContext,
    recipients: string | string[],
    answer: () => Promise<Response>,
  ): Promise<Response> => {
    switch (await faultOf(context, recipients)) {
      case null:
        return answer();
      case 'drop_before':
        throw new ConnectionDropped();
      case 'drop_after':
        await answer();
        throw new ConnectionDropped();
      case 'answer_500':
        throw new ServiceError('unavailable', 'this recipient asks for a 500', { status: 500 });
      case 'answer_429':
        throw new ServiceError('rate_limited', 'this recipient asks for a 429', { retryAfter: 1 });
      case 'answer_html':
        return write(context, { status: 502, body: proxyPage, headers: { 'Content-Type': 'text/html' } });
    }
  };
}

export type BreakOnDemand = ReturnType<typeof breaksOnDemand>;
