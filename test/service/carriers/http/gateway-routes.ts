import type { GatewayRoute } from '../../../../src/service/carriers/http/gateway-route.js';

/** A route over HTTP as its configuration is read, with the defaults. */
export function gatewayRoute(given: Partial<GatewayRoute> = {}): GatewayRoute {
  return {
    name: 'gateway',
    url: new URL('https://sms.example.mn/send'),
    proxy: null,
    check: null,
    method: 'POST',
    headers: {},
    template: { form: { to: '{number}', text: '{text}' }, in: 'body' },
    accepted: { status: [200], field: null, match: null },
    id: null,
    refused: null,
    unknownRecipient: null,
    later: null,
    account: null,
    code: null,
    repeats: null,
    receipts: null,
    incoming: null,
    receiptUrl: '',
    concurrent: 10,
    perSecond: 20,
    timeoutMs: 30_000,
    numberForm: 'international',
    secrets: [],
    prefixes: ['99'],
    fallback: [],
    inboxProject: null,
    links: true,
    ...given,
  };
}
