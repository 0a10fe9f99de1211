import type { GatewayAnswer } from './answer-values.js';
import { valuesAt } from './answer-values.js';
import type { AnswerRule, GatewayRoute, IdRule } from './gateway-route.js';

/** The row of the table that an answer falls into; nobody knows what any other answer says. */
export type AnswerOutcome =
  | { kind: 'account' | 'throttled' | 'refused' | 'unknown_recipient' | 'unknown' }
  | { kind: 'accepted'; carrierIds: string[]; isPartly: boolean };

const statusRule = (...status: number[]): AnswerRule => ({ status, field: null, match: null });
/** Of every gateway, unless its route says otherwise. */
const usual = {
  account: statusRule(401, 402, 403, 404, 407),
  later: statusRule(429),
  refused: statusRule(400, 413, 422),
};

/** The first row that fits, in the order of the table. A 2xx or 5xx that nobody described is no refusal. */
export function outcomeOfAnswer(route: GatewayRoute, answer: GatewayAnswer): AnswerOutcome {
  const { account, later, unknownRecipient, refused, accepted } = route;
  if (fitsAny(account ?? usual.account, answer)) return { kind: 'account' };
  if (fitsAny(later ?? usual.later, answer)) return { kind: 'throttled' };
  if (unknownRecipient !== null && fitsWhole(unknownRecipient, answer)) return { kind: 'unknown_recipient' };
  if (fitsWhole(refused ?? usual.refused, answer)) return { kind: 'refused' };
  if (fitsWhole(accepted, answer)) return acceptedWith(route, answer, false);
  return isPartlyAccepted(route, answer) ? acceptedWith(route, answer, true) : { kind: 'unknown' };
}

function acceptedWith({ id }: GatewayRoute, answer: GatewayAnswer, isPartly: boolean): AnswerOutcome {
  return { kind: 'accepted', carrierIds: id === null ? [] : idsIn(id, answer), isPartly };
}

/** Everything that the rule names. */
function fitsWhole(rule: AnswerRule, answer: GatewayAnswer): boolean {
  const checks = checksOf(rule, answer);
  return checks.length > 0 && checks.every(Boolean);
}

/** One of the things that the rule names. */
function fitsAny(rule: AnswerRule, answer: GatewayAnswer): boolean {
  return checksOf(rule, answer).some(Boolean);
}

function checksOf({ status, field, match }: AnswerRule, answer: GatewayAnswer): boolean[] {
  return [
    ...(status === null ? [] : [status.includes(answer.status)]),
    ...(field === null ? [] : [areAll(valuesAt(answer.fields, field.path), field.is)]),
    ...(match === null ? [] : [match.test(answer.text)]),
  ];
}

function areAll(values: readonly (string | null)[], allowed: readonly string[]): boolean {
  return values.length > 0 && values.every((value) => value !== null && allowed.includes(value));
}

/**
 * Some parts of the message were accepted, and each other one certainly was not, by whichever rule about the same field.
 */
function isPartlyAccepted(route: GatewayRoute, answer: GatewayAnswer): boolean {
  const { accepted } = route;
  if (accepted.field === null) return false;
  if (accepted.status !== null && !accepted.status.includes(answer.status)) return false;
  const { path, is } = accepted.field;
  const values = valuesAt(answer.fields, path);
  const others = [route.refused, route.unknownRecipient, route.later, route.account];
  const notTaken = others.flatMap((rule) => (rule?.field?.path === path ? rule.field.is : []));
  return values.some((value) => value !== null && is.includes(value)) && areAll(values, [...is, ...notTaken]);
}

function idsIn(rule: IdRule, answer: GatewayAnswer): string[] {
  if ('match' in rule) {
    const id = rule.match.exec(answer.text)?.[1];
    return id === undefined || id === '' ? [] : [id];
  }
  return valuesAt(answer.fields, rule.path).filter((id) => id !== null && id !== '') as string[];
}
