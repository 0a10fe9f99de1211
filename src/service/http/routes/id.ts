import { ServiceError } from '../../errors/service-error.js';
import { uuid } from '../schemas/path.js';

/** The id in a path; `not_found` for text that is not an id. An encoded id does not match. */
export function checkedId(id: string): string {
  if (!uuid.test(id)) throw new ServiceError('not_found', 'No such id in this project');
  return id;
}
