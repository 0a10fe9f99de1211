import type { CallOptions, SendOptions, Urtuu } from '../../src/client/index.js';

export const sms = { to: '99112233', text: 'Сайн уу' };
export const email = { to: 'a@b.mn', subject: 'x', text: 'x' };

/** The methods that send, by their names. */
export const sends = {
  'sms.send': (c: Urtuu, o?: SendOptions) => c.sms.send(sms, o),
  'sms.sendBulk': (c: Urtuu, o?: SendOptions) => c.sms.sendBulk({ ...sms, to: [sms.to] }, o),
  'email.send': (c: Urtuu, o?: SendOptions) => c.email.send(email, o),
  'email.sendBulk': (c: Urtuu, o?: SendOptions) => c.email.sendBulk({ ...email, to: [email.to] }, o),
};
export const verifying = {
  'verify.create': (c: Urtuu, o?: CallOptions) => c.verify.create({ to: sms.to }, o),
  'verify.check': (c: Urtuu, o?: CallOptions) => c.verify.check('v', { code: '1' }, o),
};
export const reads = {
  'messages.get': (c: Urtuu, o?: CallOptions) => c.messages.get('m', o),
  'batches.get': (c: Urtuu, o?: CallOptions) => c.batches.get('b', o),
  'batches.messages': (c: Urtuu, o?: CallOptions) => c.batches.messages('b', {}, o),
  'messages.list': (c: Urtuu, o?: CallOptions) => c.messages.list({}, o),
  'events.list': (c: Urtuu, o?: CallOptions) => c.events.list({}, o),
  'batches.list': (c: Urtuu, o?: CallOptions) => c.batches.list({}, o),
  'inbox.list': (c: Urtuu, o?: CallOptions) => c.inbox.list({}, o),
  'verify.get': (c: Urtuu, o?: CallOptions) => c.verify.get('v', o),
  'balance.get': (c: Urtuu, o?: CallOptions) => c.balance.get(o),
  'suppressions.check': (c: Urtuu, o?: CallOptions) => c.suppressions.check({ to: [sms.to] }, o),
  'pricing.get': (c: Urtuu, o?: CallOptions) => c.pricing.get(o),
};
