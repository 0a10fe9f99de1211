import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectFailure } from '../../../client/transport/connect.js';
import { exchange } from '../../../client/transport/exchange.js';
import { userAgentOf } from '../../../client/transport/user-agent.js';
import { isLoopback, parseUrl } from '../../../contract/index.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { writePrivateFile } from '../../platform/write-private-file.js';
import { readFileOf } from '../serve/secret-file.js';
import type { Deliver } from './deliver.js';

/** Seconds for a whole answer. */
const timeout = 15;
/** Of an answer. Nobody needs them, but some programs end when nobody reads them. */
const mostBytes = 65_536;

/** Throws CliError (exit 2) unless it is https, or http to this machine. Nothing of it is printed: it may be a secret. */
export function readTarget(written: string): string {
  const url = parseUrl(written);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === null || !isSafe || url.username + url.password !== '')
    throw usageError(
      '--forward-to needs an https address, or http to this machine, without user and password',
      'Example: http://localhost:3000/events',
    );
  return url.href;
}

/** Posts events with the headers of Standard Webhooks, through the proxies of this machine. */
export async function forwardTo(
  { network, clock }: Pick<Context, 'network' | 'clock'>,
  url: string,
  secret: string,
): Promise<Deliver> {
  const fetch = await network.fetchFor(url);
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return async (event) => {
    const body = JSON.stringify(event);
    const time = String(Math.floor(clock.now() / 1_000));
    const signature = createHmac('sha256', key).update(`${event.id}.${time}.${body}`).digest('base64');
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': userAgentOf(undefined),
      'webhook-id': event.id,
      'webhook-timestamp': time,
      'webhook-signature': `v1,${signature}`,
    };
    const request = { method: 'POST', headers, body, redirect: 'manual' } as const;
    const limits = { timeout: 1_000 * timeout, mostBytes, signal: null };
    const end = await exchange(fetch, url, request, limits, clock);
    if (end.answer === null)
      return end.code === 'timeout'
        ? `no answer within ${timeout} s`
        : (connectFailure(end.cause)?.reason ?? 'the connection was lost');
    const { status } = end.answer;
    return status >= 200 && status < 300 ? null : `HTTP ${status}`;
  };
}

export const secretFileOf = (folder: string): string => join(folder, 'secret');

/** Makes the secret at first use. Throws CliError (exit 13) if others can change its file. */
export async function readSecret(folder: string, { warn }: Pick<Context['io'], 'warn'>): Promise<string> {
  const file = secretFileOf(folder);
  if (!existsSync(file)) await writePrivateFile(file, `whsec_${randomBytes(32).toString('base64')}\n`);
  const { bytes, warning } = readFileOf('secret', file, '', 'It must be a file of your own.');
  if (warning !== null) warn(warning);
  const secret = bytes.toString().trim();
  if (/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(secret)) return secret;
  throw new CliError('unsafe_secret', exits.machine, `${file} has no secret of the form whsec_...`, {
    hint: 'Remove it: the next start makes a new one, which your program needs.',
  });
}
