import { normalizeAddress } from '../../contract/index.js';
import { emailRoute } from '../carriers/carrier.js';
import { messageIdOfBounce } from '../carriers/smtp/bounce-address.js';
import { ServiceError } from '../errors/service-error.js';
import { asciiDomain, domainOf } from '../mailbox.js';
import type { OperationContext } from '../operations/context.js';
import { invalid } from '../operations/fields.js';
import { bound, messageAnswer } from '../operations/resources.js';
import type { ReceivedAs } from './mail-administration.js';
import { type ReceivedMail, readMail } from './read-mail.js';
import { failureOf, type Report } from './report.js';
import type { UnsubscribeTokens, Unsubscribing } from './unsubscribe-token.js';

type Context = Pick<OperationContext, 'store' | 'project' | 'newId'>;

/** How a report proves that it is about a mail of this installation. */
export interface Identification {
  bounceKey: Uint8Array;
  tokens: UnsubscribeTokens;
}

/** `receiveMail` of Administration. */
export async function receiveMail(
  context: Context,
  { bounceKey, tokens }: Identification,
  raw: Uint8Array,
  recipients: readonly string[],
): Promise<ReceivedAs> {
  const mail = await readMail(raw).catch((error: Error) => {
    throw invalid(`not an email message: ${error.message}`);
  });
  const to =
    recipients.length > 0 ? recipients.flatMap((each) => normalizeAddress(each) ?? []) : mail.recipients;
  const { report, complaint } = mail;
  const projects = await projectsByDomain(context);
  const inboxes = new Map<string, string>();
  const messageIds: string[] = [];
  // The first recipient of each project is kept.
  for (const address of [...to].reverse()) {
    const messageId = messageIdOfBounce(address, bounceKey);
    const projectId = projects.get(domainOf(address));
    if (messageId !== null) messageIds.push(messageId);
    else if (projectId !== undefined) inboxes.set(projectId, address);
  }
  let hasBounced = false;
  if (report !== null)
    for (const id of messageIds) hasBounced = (await recordBounce(context, id, report)) || hasBounced;
  if (hasBounced) return 'bounced';
  if (complaint !== null) {
    const complained = complaint.senders.flatMap((sender) => messageIdOfBounce(sender, bounceKey) ?? []);
    const link = tokens.read(complaint.token);
    if (await recordComplaint(context, new Set([...messageIds, ...complained]), link)) return 'complained';
  }
  if (inboxes.size === 0 && messageIds.length > 0) return 'ignored';
  if (inboxes.size === 0) throw new ServiceError('not_found', 'no recipient of the mail is known');
  for (const [projectId, address] of inboxes) await keep(context, mail, address, projectId);
  return 'kept';
}

/** False without its message: it is newer than the restored backup, or pruned. */
async function recordBounce(
  { store, project }: Context,
  messageId: string,
  report: Report,
): Promise<boolean> {
  const message = await store.findMessage(messageId);
  if (message === null || message.to === '') return false;
  const { projectId, to } = message;
  const { isUnknownRecipient, code } = failureOf(report, to);
  const receipt = {
    route: emailRoute,
    carrierId: messageId,
    to,
    state: 'bounced',
    code,
    reference: messageId,
    submittedAt: null,
  } as const;
  await store.recordReceipts([receipt], (finalized, balance) => bound(messageAnswer(finalized, balance)));
  const { settings } = await project({ projectId });
  if (settings.suppressions && isUnknownRecipient) await store.suppress(projectId, to, 'unknown_recipient');
  return true;
}

/**
 * Whoever complains about a mail is sent no more of its kind, whatever address the provider names: it may be one that the
 * recipient forwards to, and most are redacted. False without a message, or without a link in it.
 */
async function recordComplaint(
  { store }: Context,
  messageIds: ReadonlySet<string>,
  link: Unsubscribing | null,
): Promise<boolean> {
  const messages = await Promise.all([...messageIds].map((id) => store.findMessage(id)));
  const linked = link !== null && (await store.getProject(link.projectId)) !== null ? link : null;
  // A message that was pruned has no recipient.
  const targets = [...messages, linked].flatMap((each) => (each === null || each.to === '' ? [] : [each]));
  for (const { projectId, to } of targets) await store.suppress(projectId, to, 'opt_out');
  return targets.length > 0;
}

/** If two projects have the same domain, the older one gets its mail. */
async function projectsByDomain({ store, project }: Context): Promise<Map<string, string>> {
  const records = await store.listProjects();
  const all = await Promise.all(records.map(({ id }) => project({ projectId: id })));
  const domains = all.flatMap(({ id, settings: { own_domain: own } }) =>
    own === null ? [] : [[asciiDomain(own.domain), id] as const],
  );
  return new Map(domains.reverse());
}

async function keep(
  { store, newId }: Context,
  mail: ReceivedMail,
  to: string,
  projectId: string,
): Promise<void> {
  const { from, subject, text, fingerprint } = mail;
  await store.keepIncoming({
    id: newId(),
    projectId,
    channel: 'email',
    from,
    to,
    subject,
    text,
    fingerprint,
    part: null,
  });
}
