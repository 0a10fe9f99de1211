import type { Submission } from '../carriers/carrier.js';
import type { Settings } from '../settings.js';
import type { ClaimedMessage, Content } from '../storage/store.js';

/** A marked message, as its carrier gets it. */
export function submissionOf(
  { message, attempts, lifeMs }: ClaimedMessage,
  route: string,
  content: Content,
  rules: Pick<Settings, 'own_domain' | 'list_unsubscribe'>,
  tools: { elapsed(): number },
): Submission {
  return {
    reference: message.id,
    attempt: attempts,
    channel: message.channel,
    route,
    to: message.to,
    text: content.text,
    subject: content.subject,
    html: content.html,
    from: content.from,
    replyTo: content.replyTo,
    lifeMs: lifeMs === null ? null : lifeMs - tools.elapsed(),
    ownDomain: rules.own_domain,
    listUnsubscribe: message.batchId === null && !content.isBulk ? null : rules.list_unsubscribe,
  };
}
