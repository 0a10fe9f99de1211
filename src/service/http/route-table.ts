import { ServiceError } from '../errors/service-error.js';
import type { Call, Route, WrittenAnswer } from './call.js';

/** The segment of a path that may be an id. */
const idPlace = /(?<=^\/v1\/[a-z]+\/)[^/]+/;

/** Routes by path and method. HEAD is answered as GET; other methods are refused. A path matches byte for byte. */
export class RouteTable<Each extends Call> {
  readonly #paths = new Map<string, Map<string, Route<Each>>>();

  /** `GET /v1/messages/:id` and what answers it. */
  constructor(routes: Readonly<Record<string, Route<Each>>>) {
    for (const [name, route] of Object.entries(routes)) {
      const [method = '', path = ''] = name.split(' ');
      this.#paths.set(path, (this.#paths.get(path) ?? new Map()).set(method, route));
    }
  }

  /** Null if no route has the path. */
  find(path: string): { path: string; answer(call: Each): Promise<WrittenAnswer> } | null {
    const isFixed = this.#paths.has(path);
    const named = isFixed ? path : path.replace(idPlace, ':id');
    const routes = this.#paths.get(named);
    if (routes === undefined) return null;
    const id = isFixed ? '' : (idPlace.exec(path)?.[0] ?? '');
    return {
      path: named,
      async answer(call) {
        const { method } = call.request;
        const route = routes.get(method === 'HEAD' ? 'GET' : method);
        if (route === undefined) throw wrongMethod([...routes.keys()]);
        return route(call, id);
      },
    };
  }
}

export const noSuchRoute = () => new ServiceError('not_found', 'No such route');

function wrongMethod(methods: readonly string[]): ServiceError {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new ServiceError('method_not_allowed', `This route allows only ${allowed}`, { allow: allowed });
}
