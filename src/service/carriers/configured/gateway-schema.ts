import * as z from 'zod/mini';
import { isLoopback } from '../../../contract/index.js';
import { proxyFor, UnusableProxy } from '../../../network/proxy.js';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { rule } from '../../parse-fields.js';
import {
  type AnswerRule,
  type GatewayRoute,
  type IdRule,
  type JsonTemplate,
  Literal,
  type RequestTemplate,
} from '../http/gateway-route.js';
import { hasPlaceholder, textsOf, unknownPlaceholder } from '../http/placeholders.js';
import { dangerOf } from '../http/safe-pattern.js';
import type { ConfigurationSource } from './configuration.js';
import {
  type Fail,
  path,
  requestFields,
  requestsOf,
  type SecretOf,
  urlOf,
  values,
} from './gateway-requests-schema.js';
import { duration, routeFields, within } from './route-fields.js';
import { readSecret, type WrittenSecret, writtenSecret } from './secrets.js';

const headerName = z
  .string()
  .check(rule((text) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(text), 'must be the name of a header'));
/** Headers of the connection and the body, which a route may not set. */
const ownHeaders =
  /^(?:host|content-length|transfer-encoding|connection|expect|upgrade|te|trailer|proxy-.*)$/i;
const freeHeader = headerName.check(
  rule((text) => !ownHeaders.test(text), 'is a header that no route may set'),
);
const pattern = z
  .string()
  .check(
    rule(
      (text) => problemOf(text) === null,
      'must be a regular expression with at most one *, + or {1,9}, and not on a group',
    ),
  );
const textOrSecret = z.union([z.string(), writtenSecret], { error: 'must be a string or a secret' });
const fields = z.record(z.string().check(z.minLength(1)), textOrSecret);
const withoutPlaceholder = 'must not have a placeholder: they belong in query, form and json';
const answerRule = z
  .strictObject({
    status: z.optional(z.array(within(100, 599)).check(z.minLength(1))),
    field: z.optional(path),
    is: z.optional(values),
    match: z.optional(pattern),
  })
  .check(
    z.refine(({ field, is }) => (field === undefined) === (is === undefined), 'must have both field and is'),
    z.refine((given) => Object.keys(given).length > 0, 'must name a status, a field or a match'),
  );

const address = z
  .string()
  .check(
    rule((text) => urlOf(text) !== null, 'must be an https:// or http:// address without user and fragment'),
  );

/** A route over HTTP. */
export const gatewaySchema = z.strictObject({
  ...routeFields,
  http: address,
  check: z.optional(
    z.strictObject({
      url: address,
      status: z._default(z.array(within(100, 599)).check(z.minLength(1)), [200]),
    }),
  ),
  method: z._default(z.enum(['GET', 'POST']), 'POST'),
  tls: z.optional(z.enum(['off'])),
  basic: z.optional(z.strictObject({ user: textOrSecret, password: writtenSecret })),
  headers: z._default(z.record(freeHeader, textOrSecret), {}),
  query: z.optional(fields),
  form: z.optional(fields),
  json: z.optional(z.json()),
  accepted: answerRule,
  id: z.optional(path),
  id_match: z.optional(pattern),
  refused: z.optional(answerRule),
  unknown_recipient: z.optional(answerRule),
  later: z.optional(answerRule),
  account: z.optional(answerRule),
  code: z.optional(path),
  repeat_key: z.optional(z.strictObject({ header: freeHeader })),
  repeat_for: z.optional(duration('mhd', 60_000, 7 * 86_400_000, 'must be 1m to 7d, as 24h')),
  ...requestFields,
  concurrent: z._default(within(1, 100), 10),
  per_second: z._default(within(1, 20_000), 20),
  timeout: z.prefault(duration('sm', 1_000, 120_000, 'must be 1s to 2m, as 30s'), '30s'),
  number_form: z._default(z.enum(['international', 'national', 'e164']), 'international'),
});

type WrittenGateway = z.infer<typeof gatewaySchema>;

/** The route with its secrets; `place` is its name in errors. Throws ConfigurationError. */
export function gatewayRouteOf(
  route: WrittenGateway,
  place: string,
  source: ConfigurationSource,
): GatewayRoute {
  const fail = (field: string, problem: string): never => {
    throw new ConfigurationError(`${place}.${field}: ${problem}`);
  };
  const url = urlOf(route.http) as URL;
  if (hasPlaceholder(route.http)) fail('http', withoutPlaceholder);
  const secrets: string[] = [];
  const wayTo = (target: URL, field: string): URL | null => {
    if (target.protocol === 'http:' && route.tls !== 'off' && !isLoopback(target.hostname))
      fail(field, 'must be https://, or "tls": "off" must be given');
    try {
      return proxyFor(target, source.environment)?.url ?? null;
    } catch (error) {
      if (error instanceof UnusableProxy) fail(field, `${error.message}. ${error.hint}`);
      throw error;
    }
  };
  const check = route.check && { ...route.check, url: urlOf(route.check.url) as URL };
  const secretOf = (written: WrittenSecret, field: string): string => {
    const secret = readSecret(written, `${place}.${field}`, source);
    secrets.push(secret);
    return secret;
  };
  const read = (written: string | WrittenSecret, field: string): string =>
    typeof written === 'string' ? written : secretOf(written, field);
  const template = templateOf(route, secretOf, fail);
  if (route.id !== undefined && route.id_match !== undefined) fail('id_match', 'cannot be combined with id');
  if (route.id_match !== undefined && !/\((?!\?)/.test(route.id_match.replace(/\\./g, '')))
    fail('id_match', 'must have a group around the id');
  const { receipts, incoming, receiptUrl } = requestsOf(route, source.publicUrl, secretOf, fail);
  const isAsked = 'json' in template ? textsOf(template.json) : textsOf(template.form);
  if (isAsked.some((text) => text.includes('{receipt_url}'))) {
    if (receipts === null) fail('receipts', 'is required with {receipt_url}');
    if (receiptUrl === '')
      fail('receipt_base', 'is required with {receipt_url}, or --public-url of urtuu serve');
  }
  return {
    name: route.name,
    url,
    proxy: wayTo(url, 'http'),
    check: check === undefined ? null : { ...check, proxy: wayTo(check.url, 'check.url') },
    method: route.method,
    headers: headersOf(route, read, secrets, fail),
    template,
    accepted: ruleOf(route.accepted) as AnswerRule,
    id: idRuleOf(route),
    receipts,
    incoming,
    receiptUrl,
    refused: ruleOf(route.refused),
    unknownRecipient: ruleOf(route.unknown_recipient),
    later: ruleOf(route.later),
    account: ruleOf(route.account),
    code: route.code ?? null,
    repeats: repeatsOf(route, fail),
    concurrent: route.concurrent,
    perSecond: route.per_second,
    timeoutMs: route.timeout,
    numberForm: route.number_form,
    secrets,
    prefixes: route.prefixes,
    fallback: route.fallback,
    inboxProject: route.inbox_project ?? null,
    links: route.links,
  };
}

function templateOf(
  { query, form, json, method }: WrittenGateway,
  secretOf: SecretOf,
  fail: Fail,
): RequestTemplate {
  const given = Object.entries({ query, form, json }).filter(([, value]) => value !== undefined);
  if (given.length !== 1) return fail('form', 'exactly one of query, form and json is required');
  const [[kind, written] = ['form', {}]] = given;
  if (kind !== 'query' && method === 'GET') return fail('method', `must be POST: a GET has no ${kind}`);
  const template = withSecrets(written as JsonTemplate, kind, secretOf);
  const texts = textsOf(template);
  const unknown = texts.map(unknownPlaceholder).find((name) => name !== null);
  if (unknown !== undefined) fail(kind, `unknown placeholder {${unknown}}`);
  for (const name of ['number', 'text'])
    if (!texts.some((text) => text.includes(`{${name}}`))) fail(kind, `must have {${name}} somewhere`);
  if (kind === 'json') return { json: template };
  return { form: template as Record<string, string | Literal>, in: kind === 'query' ? 'query' : 'body' };
}

/** The template with each secret read, wherever it is. */
function withSecrets(written: JsonTemplate, field: string, secretOf: SecretOf): JsonTemplate {
  if (typeof written !== 'object' || written === null || written instanceof Literal) return written;
  const secret = writtenSecret.safeParse(written);
  if (secret.success) return new Literal(secretOf(secret.data, field));
  if (Array.isArray(written))
    return written.map((one, index) => withSecrets(one, `${field}[${index}]`, secretOf));
  return Object.fromEntries(
    Object.entries(written).map(([name, one]) => [name, withSecrets(one, `${field}.${name}`, secretOf)]),
  );
}

function headersOf(
  { headers, basic }: WrittenGateway,
  read: (written: string | WrittenSecret, field: string) => string,
  secrets: string[],
  fail: Fail,
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, written] of Object.entries(headers)) {
    const value = read(written, `headers.${name}`);
    if (typeof written === 'string' && hasPlaceholder(written)) fail(`headers.${name}`, withoutPlaceholder);
    if (!/^[\x20-\x7e]*$/.test(value)) fail(`headers.${name}`, 'must be printable ASCII');
    given[name] = value;
  }
  if (basic === undefined) return given;
  if (Object.keys(given).some((name) => name.toLowerCase() === 'authorization'))
    fail('basic', 'cannot be combined with an Authorization header');
  const user = read(basic.user, 'basic.user');
  if (user.includes(':')) fail('basic.user', 'must not have a colon');
  const login = Buffer.from(`${user}:${read(basic.password, 'basic.password')}`).toString('base64');
  secrets.push(login);
  return { ...given, Authorization: `Basic ${login}` };
}

function repeatsOf(
  { repeat_key: key, repeat_for, headers, basic, timeout }: WrittenGateway,
  fail: Fail,
): GatewayRoute['repeats'] {
  if (key === undefined && repeat_for === undefined) return null;
  if (key === undefined) return fail('repeat_key', 'is required with repeat_for');
  if (repeat_for === undefined) return fail('repeat_for', 'is required with repeat_key');
  const taken = [...Object.keys(headers), ...(basic === undefined ? [] : ['Authorization']), 'Content-Type'];
  if (taken.some((name) => name.toLowerCase() === key.header.toLowerCase()))
    fail('repeat_key.header', 'is already a header of the route');
  if (repeat_for <= timeout) fail('repeat_for', 'must be longer than timeout');
  return { header: key.header, forMs: repeat_for };
}

function ruleOf(written: WrittenGateway['accepted'] | undefined): AnswerRule | null {
  if (written === undefined) return null;
  const { status, field, is, match } = written;
  return {
    status: status ?? null,
    field: field === undefined || is === undefined ? null : { path: field, is: is.map(String) },
    match: match === undefined ? null : new RegExp(match),
  };
}

function idRuleOf({ id, id_match: match }: WrittenGateway): IdRule | null {
  if (id !== undefined) return { path: id };
  return match === undefined ? null : { match: new RegExp(match) };
}

function problemOf(source: string): string | null {
  try {
    new RegExp(source);
  } catch {
    return 'is not a regular expression';
  }
  return dangerOf(source);
}
