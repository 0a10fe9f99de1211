import type { Preset } from './preset.js';

export const vonage: Preset = {
  document: { url: 'https://developer.vonage.com/en/api-errors/sms', date: '2026-11-24' },
  route: {
    http: 'https://rest.nexmo.com/sms/json',
    form: { to: '{number}', text: '{text}', type: '{type}' },
    accepted: { status: [200], field: 'messages.*.status', is: ['0'] },
    id: 'messages.*.message-id',
    // 5 is an internal error of Vonage; nothing says whether the message was sent.
    refused: { field: 'messages.*.status', is: ['2', '3', '6', '7', '12', '15', '22', '29', '33'] },
    later: { status: [429], field: 'messages.*.status', is: ['1', '10'] },
    account: {
      status: [401, 402, 403, 404, 407],
      field: 'messages.*.status',
      // The callback and the signature are those of every message.
      is: ['4', '8', '9', '11', '14', '23', '32'],
    },
  },
  receipts: {
    form: { callback: '{receipt_url}' },
    receipts: {
      id: 'messageId',
      to: 'msisdn',
      state: 'status',
      code: 'err-code',
      delivered: ['delivered'],
      undelivered: ['expired', 'failed', 'rejected'],
    },
  },
  // A long text comes in parts: https://developer.vonage.com/messaging/sms/guides/inbound-sms, 2026-11-28.
  incoming: {
    incoming: {
      ...{ id: 'messageId', from: 'msisdn', to: 'to', text: 'text' },
      ...{ reference: 'concat-ref', total: 'concat-total', part: 'concat-part' },
    },
  },
  needs: ['form.api_key', 'form.api_secret', 'form.from', 'receipts.token', 'incoming.token'],
};
