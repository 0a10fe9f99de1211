/** What tells the runtimes apart: Bun and Deno have a `process.versions.node` too. */
interface Globals {
  process?: { versions?: Readonly<Record<string, string | undefined>> } | undefined;
  Deno?: { createHttpClient?: (options: { poolMaxIdlePerHost: number }) => unknown } | undefined;
}

/** Node.js itself: the one runtime whose errors say for certain that a request never left. */
export function isNode(globals: object = globalThis): boolean {
  const versions = (globals as Globals).process?.versions;
  return versions?.node !== undefined && versions.bun === undefined && versions.deno === undefined;
}

/** Further fields of a fetch request, by the names the runtimes gave them. */
export interface ConnectionOptions {
  /** Bun: takes no kept connection, and keeps none. */
  keepalive?: false;
  /** Deno: an HTTP client of its own. */
  client?: unknown;
}

/**
 * What makes fetch use a connection that no request used before. The fetch of Bun and Deno may repeat a request by
 * itself, POST included, when a kept connection is reset; a new connection is not repeated. `Connection: close` does
 * not help: both send the request on the kept connection all the same. Node.js repeats nothing.
 */
export function newConnection(globals: object = globalThis): ConnectionOptions {
  if (isNode(globals)) return {};
  const { process, Deno } = globals as Globals;
  if (process?.versions?.bun !== undefined) return { keepalive: false };
  if (typeof Deno?.createHttpClient !== 'function') return {};
  return { client: Deno.createHttpClient({ poolMaxIdlePerHost: 0 }) };
}
