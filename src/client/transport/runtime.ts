/** Bun and Deno also have `process.versions.node`. */
interface Globals {
  process?: { versions?: Readonly<Record<string, string | undefined>> } | undefined;
  Deno?: { createHttpClient?: (options: { poolMaxIdlePerHost: number }) => unknown } | undefined;
}

/**
 * Whether this is Node.js itself, whose errors alone tell that a request never left.
 * @internal
 */
export function isNode(globals: object = globalThis): boolean {
  const versions = (globals as Globals).process?.versions;
  return versions?.node !== undefined && versions.bun === undefined && versions.deno === undefined;
}

/** Extensions of fetch by other runtimes. */
export interface ConnectionOptions {
  /** Bun: no connection reuse. */
  keepalive?: false;
  /** Deno: an HTTP client without idle connections. */
  client?: unknown;
}

/**
 * Options that make fetch open a new connection. When a kept connection is reset, Bun and Deno may repeat a request by
 * themselves, POST included; on a new connection they do not. `Connection: close` does not prevent it. Node.js repeats
 * nothing.
 * @internal
 */
export function newConnection(globals: object = globalThis): ConnectionOptions {
  if (isNode(globals)) return {};
  const { process, Deno } = globals as Globals;
  if (process?.versions?.bun !== undefined) return { keepalive: false };
  if (typeof Deno?.createHttpClient !== 'function') return {};
  return { client: Deno.createHttpClient({ poolMaxIdlePerHost: 0 }) };
}
