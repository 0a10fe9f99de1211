import { ServiceError } from '../../service-error.js';
import type { HttpContext } from '../context.js';
import { uuid } from '../schemas/path.js';

/** The id in the path; `not_found` for text in another form than an id. */
export function idOf(context: HttpContext): string {
  // Hono decodes it; an encoded id is another spelling of the route.
  const id = context.req.path.includes('%') ? '' : (context.req.param('id') ?? '');
  if (!uuid.test(id)) throw new ServiceError('not_found', 'No such id in this project');
  return id;
}
