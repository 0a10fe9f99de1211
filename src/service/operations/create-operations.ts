import { type RequestKind, requestRates } from '../../contract/index.js';
import type { OperationContext } from './context.js';
import { sendEmail, sendEmailBulk } from './email.js';
import { findAnswer } from './idempotency.js';
import { authenticate } from './keys.js';
import type { Allowance, Operations } from './operations.js';
import { getBatch, getMessage, getPricing, listBatchMessages } from './reads.js';
import { sendSms, sendSmsBulk } from './sms.js';
import { checkVerification, createVerification, getVerification } from './verification.js';

export function createOperations(context: OperationContext): Operations {
  return {
    authenticate: (secret) => authenticate(context, secret),
    takeToken: (projectId, kind) => takeToken(context, projectId, kind),
    findAnswer: (caller, key) => findAnswer(context, caller, key),
    sendSms: (call) => sendSms(context, call),
    sendSmsBulk: (call) => sendSmsBulk(context, call),
    sendEmail: (call) => sendEmail(context, call),
    sendEmailBulk: (call) => sendEmailBulk(context, call),
    createVerification: (caller, params) => createVerification(context, caller, params),
    checkVerification: (caller, id, params) => checkVerification(context, caller, id, params),
    getVerification: (caller, id) => getVerification(context, caller, id),
    getMessage: (caller, id) => getMessage(context, caller, id),
    getBatch: (caller, id) => getBatch(context, caller, id),
    listBatchMessages: (caller, id, page) => listBatchMessages(context, caller, id, page),
    async getBalance({ projectId }) {
      const project = await context.store.getProject(projectId);
      return { balance: project?.balance ?? 0 };
    },
    getPricing: (caller) => getPricing(context, caller),
  };
}

/** Takes one token of a project's allowance (Limits, Request rate). */
async function takeToken(
  { allowances, rates }: OperationContext,
  projectId: string,
  kind: RequestKind,
): Promise<Allowance> {
  const { perSecond, burst } = requestRates[kind];
  if (rates === 'off') return { allowed: true, limit: burst, remaining: burst, retryAfter: 0 };
  const bucket = { interval: 1_000 / perSecond, burst };
  const { allowed, remaining, wait } = await allowances.take(projectId, kind, bucket);
  return { allowed, limit: burst, remaining, retryAfter: Math.ceil(wait / 1_000) };
}
