import {
  type Channel,
  type Verification,
  type VerificationResult,
  type VerifyCheckParams,
  type VerifyCreateParams,
  verificationLimits,
} from '../../contract/index.js';
import { ServiceError } from '../errors/service-error.js';
import { type Random, randomInteger } from '../random.js';
import { capsOf, type Settings } from '../settings.js';
import type { Content } from '../storage/store.js';
import { acceptAndDispatch, type Send, singleDispatch } from './accept-and-dispatch.js';
import type { OperationContext, Project } from './context.js';
import { emailContent, senderName } from './email.js';
import { checkEmail, invalid, readEmailRecipient, readSmsRecipient } from './fields.js';
import type { Caller } from './operations.js';
import { finalizedMessage } from './outcomes.js';
import { emailPrice, smsPrice } from './pricing.js';
import { verificationResource } from './resources.js';
import { smsContent } from './sms.js';

/** Recipients may not know a project's own name, so only a brand is used. */
const defaultTemplate = ({ brand_name }: Settings) =>
  brand_name === null ? 'Your code is {code}' : '{brand}: your code is {code}';

/** POST /v1/verify: sends a code that only its recipient sees. */
export async function createVerification(
  context: OperationContext,
  caller: Caller,
  params: VerifyCreateParams,
): Promise<VerificationResult> {
  const project = await context.project(caller);
  const { recipient: to, code, lifeMs, send } = readVerification(context, project, params);
  const id = context.newId();
  const codeHash = context.encryption.hashCode(id, code);
  const { attempts } = verificationLimits;
  const sent = await acceptAndDispatch(context, send, [to], (acceptance, [recipient]) =>
    context.verificationLimits.accept(project, to.to, () =>
      context.store.acceptVerification({
        ...acceptance,
        recipient: recipient as NonNullable<typeof recipient>,
        caps: capsOf(project.settings),
        answer: null,
        verification: { id, codeHash, attempts, lifeMs },
      }),
    ),
  );
  if (sent.kind === 'repeat') throw new Error('a verification has no idempotency key');
  context.verificationLimits.created(project);
  const { message, verification, finalized } = sent;
  // Null if the outcome is not known in time. The code may have arrived, so the caller gets the id to check it with.
  const end =
    send.dispatch === 'after_answer' ? null : (finalized ?? (await finalizedMessage(context, message)));
  const error = end?.message.error ?? null;
  if (error !== null) {
    throw new ServiceError('provider_failed', error.message, { fields: { id: message.id } });
  }
  return { ...verificationResource(verification), balance: end?.balance ?? sent.balance };
}

/** The field rules and the price of a verification, with a new code. */
function readVerification(context: OperationContext, project: Project, params: VerifyCreateParams) {
  const { codeLength, expiresIn } = verificationLimits;
  const { to, code_length = codeLength.default, expires_in = expiresIn.default, text: template } = params;
  const { settings } = project;
  const channel = params.channel ?? (to.includes('@') ? 'email' : 'sms');
  const code = newCode(context.random, code_length);
  const text = fillIn(template ?? defaultTemplate(settings), code, senderName(project));
  const price = channel === 'sms' ? smsPrice(settings, text, context.clock.now()) : emailPrice(settings);
  const recipient = channel === 'sms' ? readSmsRecipient(to, settings.operators) : readEmailRecipient(to);
  const content: Content = {
    ...contentOf(channel, project, text),
    text: null,
    encrypted: context.encryption.encrypt(text),
  };
  const dispatch = singleDispatch[channel];
  const send: Send = { project, channel, content, price, idempotencyKey: null, dispatch };
  return { recipient, code, lifeMs: expires_in * 1_000, send };
}

/** POST /v1/verify/{id}/check. */
export async function checkVerification(
  context: OperationContext,
  { projectId }: Caller,
  id: string,
  { code }: VerifyCheckParams,
): Promise<Verification> {
  if (code === '') throw invalid('code: must not be empty');
  const checked = await context.store.checkVerification(projectId, id, (codeHash) =>
    context.encryption.matches(codeHash, id, code),
  );
  if (checked === null) throw noVerification();
  const { tried, verification } = checked;
  const resource = verificationResource(verification);
  if (!tried) {
    throw new ServiceError(
      'verification_closed',
      `The verification is closed; its status is ${resource.status}`,
    );
  }
  if (verification.status === 'verified') return resource;
  const { attemptsRemaining } = verification;
  const attempts = `${attemptsRemaining} ${attemptsRemaining === 1 ? 'attempt' : 'attempts'}`;
  throw new ServiceError('invalid_code', `Wrong code; ${attempts} remaining`, {
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
  return verificationResource(verification);
}

function newCode(random: Random, length: number): string {
  return Array.from({ length }, () => randomInteger(random, 10)).join('');
}

function fillIn(template: string, code: string, brand: string): string {
  if (!template.includes('{code}')) throw invalid('text: must contain {code}');
  return template.replace(/\{(code|brand)\}/g, (_, name) => (name === 'code' ? code : brand));
}

function contentOf(channel: Channel, project: Project, text: string): Content {
  if (channel === 'email') {
    const { brand_name: brand } = project.settings;
    const email = { subject: brand === null ? 'Your code' : `${senderName(project)}: your code`, text };
    checkEmail(email);
    return emailContent(project, email);
  }
  return smsContent(text);
}

function noVerification(): ServiceError {
  return new ServiceError('not_found', 'No such verification in this project');
}
