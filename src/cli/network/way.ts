import { proxyFor, UnusableProxy } from '../../network/proxy.js';
import type { Env } from '../../network/proxy-variables.js';
import { type Way as AnyWay, wayThrough } from '../../network/through-proxy.js';
import { usageError } from '../errors.js';

export interface Way extends AnyWay {
  /** Of the proxy; a secret. */
  address: string;
}

/** The way through the proxy for a URL; null without one. Throws CliError (exit 2) for an unusable one. */
export function wayTo(url: URL, env: Env): Way | null {
  try {
    const proxy = proxyFor(url, env);
    return proxy === null ? null : { ...wayThrough(proxy.url, url.protocol), address: proxy.url.href };
  } catch (error) {
    throw error instanceof UnusableProxy ? usageError(error.message, error.hint) : error;
  }
}
