import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { isLoopback, normalizeAddress } from '../../../contract/index.js';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { domainOf } from '../../mailbox.js';
import { rule } from '../../parse-fields.js';
import { AccessToken } from '../smtp/access-token.js';
import type { Login, SmtpSettings } from '../smtp/smtp-settings.js';
import type { ConfigurationSource } from './configuration.js';
import { within } from './route-fields.js';
import { readSecret, trustedCommand, writtenCommand, writtenSecret } from './secrets.js';
import { serverAddress } from './server-address.js';

/** What a client calls itself (RFC 5321, 4.1.3): a name with a domain, or an address. */
function isHelloName(text: string): boolean {
  const [, version6, address = ''] = /^\[(IPv6:)?(.*)\]$/i.exec(text) ?? [];
  if (text.startsWith('[')) return isIP(address) === (version6 === undefined ? 4 : 6);
  return /^[a-z\d.-]+$/i.test(text) && normalizeAddress(`a@${text}`) !== null && isIP(text) === 0;
}

export const emailSchema = z.strictObject({
  smtp: serverAddress(
    { 'smtp:': 587, 'smtps:': 465 },
    'must be smtp://<host>:<port> or smtps://<host>:<port>',
  ),
  user: z.optional(z.string().check(rule((text) => /^[^\p{Cc}\p{Cs}]+$/u.test(text), 'must be one line'))),
  password: z.optional(writtenSecret),
  token: z.optional(z.strictObject({ command: writtenCommand })),
  tls: z.optional(z.enum(['required', 'off'])),
  name: z.optional(
    z
      .string()
      .check(rule((text) => isHelloName(text), 'must be a host name, or an IP address in square brackets')),
  ),
  from: z
    .string()
    .check(
      rule((text) => normalizeAddress(text) === text, 'must be an email address, its domain in lower case'),
    ),
  bounce_domain: z.optional(
    z
      .string()
      .check(rule((text) => normalizeAddress(`a@${text}`) === `a@${text}`, 'must be a domain in lower case')),
  ),
  connections: z._default(within(1, 10), 4),
  per_second: z.optional(within(1, 20_000)),
  per_minute: z.optional(within(1, 1_200_000)),
  per_day: z.optional(within(1, 1_000_000_000)),
});
type WrittenEmail = z.infer<typeof emailSchema>;

/** The settings with their secrets. Throws ConfigurationError. */
export function smtpSettingsOf(email: WrittenEmail, source: ConfigurationSource): SmtpSettings {
  const { protocol, host, port } = email.smtp;
  const isImplicit = protocol === 'smtps:';
  if (isImplicit && email.tls === 'off')
    throw new ConfigurationError('email.tls: must not be "off": smtps:// is encrypted from the first byte');
  const isHere = isLoopback(host === '::1' ? '[::1]' : host.toLowerCase());
  const { per_second: second = Number.POSITIVE_INFINITY, per_minute: minute = second * 60 } = email;
  const perSecond = Math.min(second, minute / 60);
  const startTls = email.tls ?? (isHere ? 'off' : 'required');
  return {
    host,
    port,
    tls: isImplicit ? 'implicit' : startTls,
    login: loginOf(email, source),
    from: email.from,
    name: email.name ?? domainOf(email.from),
    bounceDomain: email.bounce_domain ?? null,
    connections: email.connections,
    perSecond: perSecond === Number.POSITIVE_INFINITY ? null : perSecond,
    perDay: email.per_day ?? null,
  };
}

function loginOf({ user, password, token }: WrittenEmail, source: ConfigurationSource): Login | null {
  const field = password !== undefined ? 'password' : token !== undefined ? 'token' : null;
  if (user === undefined && field === null) return null;
  if (user === undefined) throw new ConfigurationError(`email.user: is required with "${field}"`);
  if (password !== undefined && token !== undefined)
    throw new ConfigurationError('email.token: must not be combined with "password"');
  if (token !== undefined)
    return { user, token: new AccessToken(trustedCommand(token.command, 'email.token.command', source)) };
  if (password === undefined)
    throw new ConfigurationError('email.password: is required with "user", or "token"');
  return { user, password: readSecret(password, 'email.password', source) };
}
