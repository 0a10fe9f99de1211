import { emailRoute, noLinkRoute } from '../carriers/carrier.js';
import type { MessageRecord } from '../storage/store.js';

export interface Route {
  name: string;
  carriesLinks: boolean;
}

const noLinks: Route = { name: noLinkRoute, carriesLinks: false };

/** The routes to try for a message, in order (POST /v1/sms, rule 6). */
export function routesOf(
  { channel, operator }: Pick<MessageRecord, 'channel' | 'operator'>,
  noLinkOperators: readonly string[],
): Route[] {
  if (channel === 'email' || operator === null) return [{ name: emailRoute, carriesLinks: true }];
  if (noLinkOperators.includes(operator)) return [noLinks];
  return [{ name: operator, carriesLinks: true }, noLinks];
}
