import type { Readiness } from '../../readiness.js';
import { errorAnswer, jsonAnswer } from '../answer.js';
import type { WrittenAnswer } from '../call.js';

/** Without a key and outside the request rate, for load balancers and supervisors. */
export const healthRoutes = (readiness: () => Promise<Readiness>) => ({
  live: async () => jsonAnswer(200, { status: 'ok' }),

  async ready(): Promise<WrittenAnswer> {
    const { status, error, carriers } = await readiness();
    if (error === null) return jsonAnswer(200, { status, carriers });
    const { body, headers } = errorAnswer(error);
    return jsonAnswer(error.status, { status, ...body, carriers }, headers);
  },
});
