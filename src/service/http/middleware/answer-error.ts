import { ServiceError } from '../../service-error.js';
import { errorAnswer, respond } from '../answer.js';
import type { HttpContext } from '../context.js';
import { ConnectionDropped } from '../inject-fault.js';

/** Called for every unexpected error; its text goes to no caller. */
export type Report = (error: unknown, requestId: string) => void;

/** The one place where an error becomes an answer. */
export function answerError(report: Report): (error: Error, context: HttpContext) => Response {
  return (error, context) => {
    if (error instanceof ConnectionDropped) throw error;
    const refusal = error instanceof ServiceError ? error : null;
    if (refusal === null) report(error, context.get('requestId'));
    const shown = refusal ?? new ServiceError('unavailable', 'The service cannot answer now');
    if (context.env.notes !== undefined) context.env.notes.code = shown.code;
    const { body, headers } = errorAnswer(shown);
    return respond(context, shown.status, body, headers);
  };
}
