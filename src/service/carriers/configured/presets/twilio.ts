import type { Preset } from './preset.js';

export const twilio: Preset = {
  document: { url: 'https://www.twilio.com/docs/messaging/api/message-resource', date: '2026-11-24' },
  route: {
    form: { To: '{number}', Body: '{text}' },
    number_form: 'e164',
    accepted: { status: [201], field: 'status', is: ['accepted', 'queued', 'sending', 'sent'] },
    id: 'sid',
    // Not a number, or not a mobile number.
    unknown_recipient: { status: [400], field: 'code', is: [21211, 21614] },
    code: 'code',
  },
  receipts: {
    form: { StatusCallback: '{receipt_url}' },
    receipts: {
      id: 'MessageSid',
      to: 'To',
      state: 'MessageStatus',
      code: 'ErrorCode',
      delivered: ['delivered'],
      undelivered: ['undelivered', 'failed'],
    },
  },
  incoming: { incoming: { id: 'MessageSid', from: 'From', to: 'To', text: 'Body' } },
  needs: [
    'http',
    'basic.user',
    'basic.password',
    'form.From',
    'receipts.token',
    'receipts.twilio_auth_token',
    'incoming.token',
    'incoming.twilio_auth_token',
  ],
};
