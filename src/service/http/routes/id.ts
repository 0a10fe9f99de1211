import { ServiceError } from '../../service-error.js';
import type { HttpContext } from '../context.js';
import { uuid } from '../schemas/path.js';

/** The id in the path. One that no resource can have is not found; no operation is asked. */
export function idOf(context: HttpContext): string {
  // Hono decodes it, and no id needs an encoding.
  const id = context.req.path.includes('%') ? '' : (context.req.param('id') ?? '');
  if (!uuid.test(id)) throw new ServiceError('not_found', 'there is nothing with this id');
  return id;
}
