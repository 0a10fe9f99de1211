import { ServiceError } from '../../service-error.js';
import { errorAnswer, respond } from '../answer.js';
import type { Handler } from '../context.js';

export const unknownRoute: Handler = async () => {
  throw new ServiceError('not_found', 'No such route');
};

/** For a route with other methods. */
export function wrongMethod(methods: readonly string[]): Handler {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return async (context) => {
    const error = new ServiceError('method_not_allowed', `This route allows only ${allowed}`);
    const { body, headers } = errorAnswer(error);
    return respond(context, error.status, body, { ...headers, Allow: allowed });
  };
}
