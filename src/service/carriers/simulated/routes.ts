import { emailRoute, noLinkRoute, type Route, type RoutesOf } from '../carrier.js';

export const simulatedLanes = ['sms', 'email'] as const;

const email: Route = { name: emailRoute, lane: 'email', carriesLinks: true };
const noLinks: Route = { name: noLinkRoute, lane: 'sms', carriesLinks: false };

/** POST /v1/sms, rule 6: the operators of the settings, which all wait in one lane, and the route without links. */
export const simulatedRoutes: RoutesOf = ({ channel, operator }, settings) => {
  if (channel === 'email' || operator === null) return [email];
  if (settings.no_link_operators.includes(operator)) return [noLinks];
  return [{ name: operator, lane: 'sms', carriesLinks: true }, noLinks];
};
