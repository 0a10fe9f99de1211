import { respond } from '../answer.js';
import type { Handler } from '../context.js';

/** The service's description. Its module is loaded when somebody first asks. */
export function openApi(): Handler {
  let document: Promise<object> | undefined;
  return async (context) => {
    document ??= import('../openapi/document.js').then(({ openApiDocument }) => openApiDocument());
    return respond(context, 200, await document);
  };
}
