import type { Readiness } from '../../readiness.js';
import { errorAnswer, written } from '../answer.js';
import type { WrittenAnswer } from '../call.js';

/** Without a key and outside the request rate, for load balancers and supervisors. */
export const healthRoutes = (readiness: () => Promise<Readiness>) => ({
  live: async () => written(200, { status: 'ok' }),

  async ready(): Promise<WrittenAnswer> {
    const { status, error, carriers } = await readiness();
    if (error === null) return written(200, { status, carriers });
    const { body, headers } = errorAnswer(error);
    return written(error.status, { status, ...body, carriers }, headers);
  },
});
