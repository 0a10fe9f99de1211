import type { Channel } from '../../../contract/index.js';
import { emailLane, emailRoute, noLinkRoute, type Route, type RoutesOf } from '../carrier.js';

export const simulatedLanes = ['sms', emailLane] as const;

export const laneOf = (channel: Channel): string => (channel === 'email' ? emailLane : 'sms');

const email: Route = { name: emailRoute, lane: emailLane, carriesLinks: true };
const noLinks: Route = { name: noLinkRoute, lane: 'sms', carriesLinks: false };

const onlyEmail: [Route] = [email];
const onlyNoLinks: [Route] = [noLinks];
/** By operator; created once, because a batch asks a thousand times. */
const operatorRoutes = new Map<string, [Route, Route]>();

/** POST /v1/sms, rule 6: the operators in the settings, which share a lane, and the route without links. */
export const simulatedRoutes: RoutesOf = ({ channel, operator }, settings) => {
  if (channel === 'email' || operator === null) return onlyEmail;
  if (settings.no_link_operators.includes(operator)) return onlyNoLinks;
  const known = operatorRoutes.get(operator);
  if (known !== undefined) return known;
  const routes: [Route, Route] = [{ name: operator, lane: 'sms', carriesLinks: true }, noLinks];
  operatorRoutes.set(operator, routes);
  return routes;
};
