import type { Channel } from '../contract/index.js';
import { isBatch, messageSent, type Proof } from './transport/proof.js';

/** One recipient or up to 1,000. */
export type SendKind = 'single' | 'batch';

export interface SendEndpoint {
  path: string;
  proof: Proof;
}

export const sendEndpoints: Readonly<Record<Channel, Readonly<Record<SendKind, SendEndpoint>>>> = {
  sms: {
    single: { path: '/sms', proof: messageSent },
    batch: { path: '/sms/bulk', proof: isBatch },
  },
  email: {
    single: { path: '/email', proof: messageSent },
    batch: { path: '/email/bulk', proof: isBatch },
  },
};
