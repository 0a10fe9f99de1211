import type { Preset } from './preset.js';

/** Tried with Kannel 1.4.5. */
export const kannel: Preset = {
  document: {
    url: 'https://www.kannel.org/download/1.4.5/userguide-1.4.5/userguide.html',
    date: '2026-11-22',
  },
  route: {
    http: 'http://127.0.0.1:13013/cgi-bin/sendsms',
    method: 'GET',
    query: { to: '{number}', text: '{text}', charset: 'UTF-8', coding: '{coding}' },
    // The third does not wait for its answer: immediate-sendsms-reply.
    accepted: { status: [202], match: '^(?:0: Accepted|3: Queued|Sent\\.)' },
    account: { status: [401, 402, 404, 407], match: '^Authorization failed' },
    // Its queue is full, or it stops.
    later: { status: [429], match: '^Temporal failure' },
    // 403 for a number without a route.
    refused: { status: [400, 403, 413, 422] },
  },
  receipts: {
    query: { 'dlr-mask': '19', 'dlr-url': '{receipt_url}?ref={id}&state=%d' },
    receipts: { reference: 'ref', state: 'state', delivered: [1], undelivered: [2, 16] },
  },
  incoming: {},
  needs: ['query.username', 'query.password', 'receipts.token'],
};
