import { normalId } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';

/** The id in a path; `not_found` for text that is not an id. An encoded id does not match. */
export function checkedId(written: string): string {
  const id = normalId(written);
  if (id === null) throw new ServiceError('not_found', 'No such id in this project');
  return id;
}
