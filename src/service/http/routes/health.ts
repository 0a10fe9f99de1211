import type { Readiness } from '../../readiness.js';
import { errorAnswer, respond } from '../answer.js';
import type { Handler } from '../context.js';

/** Without a key and outside the request rate, for load balancers and supervisors. */
export const healthRoutes = (readiness: () => Promise<Readiness>): Record<'live' | 'ready', Handler> => ({
  live: async (context) => respond(context, 200, { status: 'ok' }),

  async ready(context) {
    const { status, error, carriers } = await readiness();
    if (error === null) return respond(context, 200, { status, carriers });
    const { body, headers } = errorAnswer(error);
    return respond(context, error.status, { status, ...body, carriers }, headers);
  },
});
