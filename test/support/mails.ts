import type { Submission } from '../../src/service/carriers/carrier.js';

/** An email as a carrier is given it. */
export const mailOf = (changes: Partial<Submission> = {}): Submission => ({
  reference: '018f4e8a-7c11-7abc-8def-0123456789ab',
  attempt: 1,
  channel: 'email',
  route: 'email',
  to: 'bold@example.com',
  text: 'Сайн уу',
  subject: 'Тавтай морил',
  html: null,
  from: null,
  replyTo: null,
  ...changes,
});
