import type { Agent } from 'node:http';
import { HttpsProxyAgent } from 'https-proxy-agent';

/** An agent that reaches a service through a proxy; loaded only if one is set. */
export function proxyAgent(proxy: string, options: { keepAlive: boolean }): Agent {
  return new HttpsProxyAgent(proxy, options) as unknown as Agent;
}
