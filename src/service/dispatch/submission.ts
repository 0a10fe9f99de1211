import type { Submission } from '../carriers/carrier.js';
import type { Settings } from '../settings.js';
import { isListMessage } from '../storage/dispatching.js';
import type { ClaimedMessage, Content } from '../storage/store.js';

/** What a project says of its emails. */
export interface EmailRules extends Pick<Settings, 'own_domain' | 'list_unsubscribe'> {
  /** Where a recipient unsubscribes on a page of this service; absent without one. */
  unsubscribeAddress?(to: string): string;
}

/** A marked message, as its carrier gets it. */
export function submissionOf(
  { message, attempts, lifeMs }: ClaimedMessage,
  route: string,
  content: Content,
  rules: EmailRules,
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
    listUnsubscribe: isListMessage({ message, content })
      ? (rules.unsubscribeAddress?.(message.to) ?? rules.list_unsubscribe)
      : null,
  };
}
