import type { Preset } from './preset.js';

export const infobip: Preset = {
  document: { url: 'https://www.infobip.com/docs/developer-resources/quickstart', date: '2026-11-24' },
  route: {
    json: { messages: [{ destinations: [{ to: '{number}' }], content: { text: '{text}' } }] },
    accepted: { status: [200], field: 'messages.*.status.groupName', is: ['PENDING', 'ACCEPTED'] },
    id: 'messages.*.messageId',
    refused: { field: 'messages.*.status.groupName', is: ['REJECTED'] },
    code: 'messages.*.status.name',
    account: {
      status: [401, 402, 403, 404, 407],
      field: 'messages.*.status.name',
      is: ['REJECTED_NOT_ENOUGH_CREDITS', 'REJECTED_PREPAID_PACKAGE_EXPIRED'],
    },
  },
  receipts: {
    json: { messages: [{ webhooks: { delivery: { url: '{receipt_url}' } } }] },
    receipts: {
      id: 'results.*.messageId',
      to: 'results.*.to',
      state: 'results.*.status.groupName',
      code: 'results.*.error.name',
      delivered: ['DELIVERED'],
      undelivered: ['UNDELIVERABLE', 'EXPIRED', 'REJECTED'],
    },
  },
  incoming: {
    incoming: {
      id: 'results.*.messageId',
      from: 'results.*.from',
      to: 'results.*.to',
      text: 'results.*.text',
    },
  },
  needs: ['http', 'headers.Authorization', 'json.messages.0.sender', 'receipts.token', 'incoming.token'],
};
