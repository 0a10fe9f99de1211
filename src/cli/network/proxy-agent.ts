import type { Agent } from 'node:http';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';

/** An agent that reaches `url` through a proxy; loaded only where one is set. */
export function proxyAgent(proxy: string, url: URL, options: { keepAlive: boolean }): Agent {
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
    // The value may hold a password, so it is not shown.
    const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
    throw new CliError('usage', exits.usage, `${name} is not an http or https address`, {
      hint: `Example: ${name}=http://proxy.example.mn:3128`,
    });
  }
  return new HttpsProxyAgent(proxy, options) as unknown as Agent;
}
