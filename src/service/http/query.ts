import { messagePage } from '../../contract/index.js';
import { ServiceError } from '../errors/service-error.js';
import type { PageRequest } from '../operations/operations.js';
import { quoteKey } from '../parse-fields.js';
import type { ApiRequest } from './call.js';

/** The query of a request; refuses repeated names. */
export function queryOf({ url }: ApiRequest): Record<string, string> {
  const parameters = new URL(url).searchParams;
  const repeated = [...parameters.keys()].find((name, at, names) => names.indexOf(name) !== at);
  if (repeated !== undefined) {
    throw new ServiceError('invalid_request', `${quoteKey(repeated)}: appears twice in the query`);
  }
  return Object.fromEntries(parameters);
}

export function pageOf({
  limit,
  after = null,
}: {
  limit?: string | undefined;
  after?: string | null | undefined;
}): PageRequest {
  return { limit: limit === undefined ? messagePage.default : Number(limit), after };
}
