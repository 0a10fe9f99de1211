import { randomUUID } from 'node:crypto';
import { normalNumber } from '../../../contract/index.js';
import { systemClock } from '../../clock.js';
import { ConfigurationError } from '../../errors/configuration-error.js';
import { emailRoute, type Submission } from '../carrier.js';
import { gatewayClient } from '../http/gateway-client.js';
import { type GatewayRoute, isGateway } from '../http/gateway-route.js';
import { outcomeOfAnswer } from '../http/outcome-of-answer.js';
import { type RenderedRequest, renderRequest } from '../http/rendered-request.js';
import { withoutSecrets } from '../without-secrets.js';
import { addressOf } from './check-carriers.js';
import type { ConfigurationSource, RouteTrial, TrialAnswer } from './configuration.js';
import { readConfiguration } from './read-configuration.js';
import { trySmpp, trySmtp } from './try-login.js';

/** Prepares one message over a route, to be shown and sent; nothing is stored. Rejects with ConfigurationError. */
export async function tryRoute(
  source: ConfigurationSource,
  { route: name, to, text }: { route: string; to: string; text: string },
): Promise<RouteTrial> {
  // Its receipts would refer to a message that is not stored.
  const { sms, email } = readConfiguration({ publicUrl: 'https://localhost', ...source });
  const isAddress = to.includes('@');
  const submission: Submission = {
    reference: randomUUID(),
    attempt: 1,
    channel: isAddress ? 'email' : 'sms',
    route: name,
    to: normalNumber(to) ?? to,
    text,
    subject: isAddress ? 'Test' : null,
    html: null,
    from: null,
    replyTo: null,
  };
  if (isAddress && name === emailRoute && typeof email === 'object')
    return trySmtp(email, submission, addressOf(email.tls === 'implicit' ? 'smtps' : 'smtp', email));
  const routes = typeof sms === 'object' && !isAddress ? sms.routes : [];
  const route = routes.find((one) => one.name === name);
  if (route === undefined) {
    const kind = isAddress ? 'for email' : 'for SMS';
    throw new ConfigurationError(`${source.file}: there is no route ${kind} called ${JSON.stringify(name)}`);
  }
  if (!isGateway(route)) return trySmpp(route, submission, addressOf(route.tls ? 'smpp+tls' : 'smpp', route));
  const request = renderRequest(route, { ...submission, text });
  const show = withoutSecrets(route.secrets, '***');
  return { request: show(written(request)), send: () => send(route, request, submission.to, show) };
}

async function send(
  route: GatewayRoute,
  request: RenderedRequest,
  to: string,
  show: (text: string) => string,
): Promise<TrialAnswer> {
  const client = gatewayClient(route.url, route, systemClock);
  const exchanged = await client.exchange(request, new AbortController().signal);
  client.close();
  const nothing = { status: null, ids: [], answer: '' };
  if (exchanged.kind === 'not_sent') return { rule: 'not_sent', reason: exchanged.reason, ...nothing };
  if (exchanged.kind === 'unanswered') return { rule: 'unknown', reason: exchanged.reason, ...nothing };
  const { answer } = exchanged;
  const outcome = outcomeOfAnswer(route, answer, to);
  const seen = { status: answer.status, answer: show(answer.text) };
  if (outcome.kind !== 'accepted') {
    const rule = outcome.kind === 'throttled' ? 'later' : outcome.kind;
    return { rule, reason: outcome.code, ids: [], ...seen };
  }
  const rule = outcome.isPartly ? 'partly_accepted' : 'accepted';
  return { rule, reason: '', ids: outcome.carrierIds.map(show), ...seen };
}

function written({ method, url, headers, body }: RenderedRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(body === null ? [] : ['', body])].join('\n');
}
