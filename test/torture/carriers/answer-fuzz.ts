import { decodeAnswer } from '../../../src/service/carriers/http/answer-values.js';
import type { GatewayRoute } from '../../../src/service/carriers/http/gateway-route.js';
import { outcomeOfAnswer } from '../../../src/service/carriers/http/outcome-of-answer.js';
import { gatewayRoute } from '../../service/carriers/http/gateway-routes.js';
import { changedText, type Dice, playInputs } from './fuzz-inputs.js';

type Decide = typeof outcomeOfAnswer;

const field = (...is: string[]) => ({ path: 'messages.*.status', is });
const rule = (values: readonly string[], status: number[] | null = null) => ({
  status,
  field: field(...values),
  match: null,
});
/** Of all kinds of rules. */
const routes: readonly GatewayRoute[] = [
  gatewayRoute({
    accepted: rule(['0'], [200, 202]),
    id: { path: 'messages.*.id' },
    refused: rule(['6', '7']),
    unknownRecipient: rule(['7']),
    later: rule(['1'], [429]),
    account: rule(['4'], [401, 403]),
  }),
  gatewayRoute({
    accepted: { status: [202], field: null, match: /^(?:0: Accepted|3: Queued)/ },
    id: { match: /id=([A-Za-z0-9]+)/ },
    refused: { status: null, field: null, match: /^ERR \d{1,3}$/ },
  }),
];

const statuses = [200, 200, 200, 202, 204, 301, 400, 401, 403, 408, 409, 422, 429, 500, 502, 503];
const words = [
  '0',
  '1',
  '4',
  '6',
  '7',
  '99',
  '',
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  'null',
  '\u0000',
  'я',
  ' ',
];
const texts = [
  '0: Accepted for delivery id=a1',
  '3: Queued for later',
  'ERR 17',
  'ERR 1234',
  '<html>',
  '\r\n 0: Accepted',
  'x0: Accepted',
];
const types = ['application/json', 'text/html; charset=utf-8', 'application/x-www-form-urlencoded', ''];

/** What an answer says by rules that are written anew, plainly; null for one that was changed. */
function truthOf(route: GatewayRoute, status: number, parts: readonly string[] | null, text: string): string {
  if (route === routes[0]) {
    const all = (...values: string[]) =>
      parts !== null && parts.length > 0 && parts.every((part) => values.includes(part));
    if (status === 401 || status === 403 || all('4')) return 'account';
    if (status === 429 || all('1')) return 'throttled';
    if (all('7')) return 'unknown_recipient';
    if (all('6', '7')) return 'refused';
    const isTaken = (status === 200 || status === 202) && parts?.includes('0');
    return isTaken && all('0', '1', '4', '6', '7') ? 'accepted' : 'unknown';
  }
  if ([401, 402, 403, 404, 407].includes(status)) return 'account';
  if (status === 429) return 'throttled';
  const said = text.trim();
  if (said.startsWith('ERR ') && said.length < 8) return 'refused';
  return status === 202 && (said.startsWith('0: Accepted') || said.startsWith('3: Queued'))
    ? 'accepted'
    : 'unknown';
}

function answerOf(dice: Dice) {
  const { random, upTo, one } = dice;
  const route = one(routes);
  const status = one(statuses);
  const parts = Array.from({ length: upTo(4) }, () => one(['0', '0', '1', '4', '6', '7', '99']));
  const isNumber = random() < 0.5;
  const messages = parts.map((part, index) => ({ status: isNumber ? Number(part) : part, id: `a${index}` }));
  let body = route === routes[0] ? JSON.stringify({ messages }) : one(texts);
  const isChanged = random() < 0.5;
  if (isChanged) body = changedText(body, words, dice);
  if (isChanged && random() < 0.0005) body = one(words).repeat(200_000).slice(0, 1_000_000);
  const type = isChanged ? one(types) : 'application/json';
  return { route, status, parts, body, isChanged, type };
}

/** Answers as gateways write them, and what looks like some; `untrue` counts those that were read as something else. */
export function playAnswerFuzz(seed: number, inputs: number, decide: Decide = outcomeOfAnswer) {
  const wrongIn = ({ route, status, parts, body, isChanged, type }: ReturnType<typeof answerOf>) => {
    const outcome = decide(route, decodeAnswer(status, type, body, null), '99112233');
    if (outcome.kind === 'accepted' && outcome.carrierIds.some((id) => /\p{Cc}/u.test(id) || id.length > 255))
      throw new Error('no engine keeps its ids');
    // Whatever was done to it, it is taken only where it says so.
    const isUntrue = isChanged
      ? outcome.kind === 'accepted' && !/0|3: Queued/.test(body)
      : outcome.kind !== truthOf(route, status, parts, body);
    return isUntrue ? `${status} is ${outcome.kind}` : null;
  };
  return playInputs(seed, inputs, answerOf, wrongIn, ({ body }) => body);
}

/** A control: every 200 that is no acceptance is a refusal. */
export const hasty: Decide = (route, answer, to) => {
  const outcome = outcomeOfAnswer(route, answer, to);
  const isRefusal = outcome.kind === 'unknown' && answer.status === 200;
  return isRefusal ? { kind: 'refused', code: outcome.code } : outcome;
};
