import {
  type Channel,
  type Verification,
  type VerificationResult,
  type VerifyCheckParams,
  type VerifyCreateParams,
  verificationLimits,
} from '../../contract/index.js';
import { type Random, randomInteger } from '../random.js';
import { ServiceError } from '../service-error.js';
import type { Content, VerificationRecord } from '../storage/store.js';
import {
  acceptAndDispatch,
  messageAcceptance,
  newMessage,
  type Send,
  singleDispatch,
} from './accept-and-dispatch.js';
import type { OperationContext, Project } from './context.js';
import { emailContent, emailPrice, senderName } from './email.js';
import { checkEmail, checkText, invalid, readEmailRecipient, readSmsRecipient } from './fields.js';
import type { Caller } from './operations.js';
import { verificationResource } from './resources.js';
import { smsPrice } from './sms.js';
import { settledMessage } from './waits.js';

const defaultTemplate = '{brand}: your code is {code}';

/** POST /v1/verify: sends a code that only its recipient learns. */
export async function createVerification(
  context: OperationContext,
  { projectId }: Caller,
  params: VerifyCreateParams,
): Promise<VerificationResult> {
  const project = await context.project(projectId);
  const channel = params.channel ?? (params.to.includes('@') ? 'email' : 'sms');
  const code = newCode(
    context.random,
    inRange('code_length', params.code_length, verificationLimits.codeLength),
  );
  const life = inRange('expires_in', params.expires_in, verificationLimits.expiresIn) * 1_000;
  const text = fillIn(params.text ?? defaultTemplate, code, senderName(project));
  const price =
    channel === 'sms' ? smsPrice(project.settings, text, context.clock.now()) : emailPrice(project.settings);
  const recipient =
    channel === 'sms'
      ? readSmsRecipient(params.to, project.settings.operators)
      : readEmailRecipient(params.to);
  const content: Content = {
    ...contentFor(channel, project, text),
    text: null,
    sealed: context.sealing.seal(text),
  };
  const send: Send = {
    project,
    channel,
    content,
    price,
    idempotencyKey: null,
    dispatch: singleDispatch[channel],
  };
  const id = context.newId();
  const codeHash = context.sealing.hashCode(id, code);
  const { attempts } = verificationLimits;
  const sent = await acceptAndDispatch(context, send, () => {
    const message = newMessage(context, send, recipient);
    const expiresAt = message.createdAt + life;
    const verification = { id, codeHash, attempts, expiresAt };
    return {
      message,
      expiresAt,
      messages: [message],
      accept: (lease) =>
        context.store.acceptVerification({ ...messageAcceptance(send, message, lease), verification }),
    };
  });
  if (sent.kind === 'repeat') throw new Error('a verification has no idempotency key');
  const { message, expiresAt } = sent.draft;
  // Null when the outcome is not known in time: the code may have arrived, so the caller gets the id to check it with.
  const end =
    send.dispatch === 'queued' ? null : (sent.finalized ?? (await settledMessage(context, message)));
  const error = end?.message.error ?? null;
  if (error !== null) {
    throw new ServiceError('provider_failed', error.message, { fields: { id: message.id } });
  }
  const verification: VerificationRecord = {
    id,
    status: 'pending',
    channel,
    to: recipient.to,
    attemptsRemaining: attempts,
    credits: price.credits,
    codeHash,
    createdAt: message.createdAt,
    expiresAt,
    verifiedAt: null,
  };
  const resource = verificationResource(verification, context.clock.now());
  return { ...resource, balance: end?.balance ?? sent.balance };
}

/** POST /v1/verify/{id}/check. */
export async function checkVerification(
  context: OperationContext,
  { projectId }: Caller,
  id: string,
  { code }: VerifyCheckParams,
): Promise<Verification> {
  if (code === '') throw invalid('code must not be empty');
  const now = context.clock.now();
  const checked = await context.store.checkVerification(projectId, id, now, (codeHash) =>
    context.sealing.matches(codeHash, id, code),
  );
  if (checked === null) throw noVerification();
  const { tried, verification } = checked;
  const resource = verificationResource(verification, now);
  if (!tried) {
    throw new ServiceError('verification_closed', `The verification is closed: it is ${resource.status}`);
  }
  if (verification.status === 'verified') return resource;
  const { attemptsRemaining } = verification;
  throw new ServiceError('invalid_code', `The code is wrong; ${attemptsRemaining} more tries are left`, {
    fields: { attempts_remaining: attemptsRemaining },
  });
}

/** GET /v1/verify/{id}. */
export async function getVerification(
  context: OperationContext,
  { projectId }: Caller,
  id: string,
): Promise<Verification> {
  const verification = await context.store.getVerification(projectId, id);
  if (verification === null) throw noVerification();
  return verificationResource(verification, context.clock.now());
}

function newCode(random: Random, length: number): string {
  return Array.from({ length }, () => randomInteger(random, 10)).join('');
}

function inRange(
  field: string,
  value: number | undefined,
  { min, max, default: usual }: { min: number; max: number; default: number },
): number {
  if (value === undefined) return usual;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(`${field} must be a whole number from ${min} to ${max}`);
}

function fillIn(template: string, code: string, brand: string): string {
  checkText('text', template);
  if (!template.includes('{code}')) throw invalid('text must contain {code}');
  return template.replace(/\{(code|brand)\}/g, (_, name) => (name === 'code' ? code : brand));
}

function contentFor(channel: Channel, project: Project, text: string): Content {
  if (channel === 'email') {
    const email = { subject: `${senderName(project)}: your code`, text };
    checkEmail(email);
    return emailContent(project, email);
  }
  return { text, html: null, subject: null, from: null, replyTo: null, sealed: null };
}

function noVerification(): ServiceError {
  return new ServiceError('not_found', 'There is no such verification in this project');
}
