import { withoutSecrets } from '../without-secrets.js';
import type { GatewayAnswer } from './answer-values.js';
import { valuesAt } from './answer-values.js';
import type { AnswerRule, GatewayRoute, IdRule } from './gateway-route.js';

/** The rule that an answer matches; `unknown` without one. */
export type AnswerOutcome =
  | {
      kind: 'account' | 'throttled' | 'refused' | 'unknown_recipient' | 'unknown';
      /** The status, the values that the rule names, and the route's code: nothing else of an answer is ever shown. */
      code: string;
    }
  | { kind: 'accepted'; carrierIds: string[]; isPartly: boolean };

/** Maximum characters of an id. */
const longestId = 255;
/** Digits at the end of a number in each of its spellings. */
const nationalDigits = 8;
/** Maximum ids of a message. */
const mostIds = 20;

const statusRule = (...status: number[]): AnswerRule => ({ status, field: null, match: null });
/** The statuses of every gateway, unless its route has others. */
const usual = {
  account: statusRule(401, 402, 403, 404, 407),
  later: statusRule(429),
  refused: statusRule(400, 413, 422),
};

/** The first rule that matches, in this order. A 2xx or 5xx that matches none is not a refusal. `to`: its recipient. */
export function outcomeOfAnswer(route: GatewayRoute, answer: GatewayAnswer, to: string): AnswerOutcome {
  const codeBy = (rule?: AnswerRule) => codeOf(route, answer, to, rule);
  const { accepted, unknownRecipient } = route;
  const account = route.account ?? usual.account;
  const later = route.later ?? usual.later;
  const refused = route.refused ?? usual.refused;
  if (fitsAny(account, answer)) return { kind: 'account', code: codeBy(account) };
  if (fitsAny(later, answer)) return { kind: 'throttled', code: codeBy(later) };
  if (unknownRecipient !== null && fitsWhole(unknownRecipient, answer))
    return { kind: 'unknown_recipient', code: codeBy(unknownRecipient) };
  if (fitsWhole(refused, answer)) return { kind: 'refused', code: codeBy(refused) };
  const isWhole = fitsWhole(accepted, answer);
  if (!isWhole && !isPartlyAccepted(route, answer)) return { kind: 'unknown', code: codeBy() };
  return { kind: 'accepted', carrierIds: idsIn(route.id, answer), isPartly: !isWhole };
}

function codeOf(
  { code, secrets }: GatewayRoute,
  answer: GatewayAnswer,
  to: string,
  rule?: AnswerRule,
): string {
  const { field = null } = rule ?? {};
  const values = field === null ? [] : valuesAt(answer.fields, field.path);
  const named = new Set(values.filter((value) => value !== null && field?.is.includes(value)));
  const codes = code === null ? [] : valuesAt(answer.fields, code);
  for (const each of codes) if (each !== null && isCode(each, secrets, to)) named.add(each);
  return [`HTTP ${answer.status}`, ...named].join(' ');
}

/** Whether all conditions of the rule match. */
function fitsWhole({ status, field, match }: AnswerRule, answer: GatewayAnswer): boolean {
  return (
    (status === null || status.includes(answer.status)) &&
    (field === null || areAll(valuesAt(answer.fields, field.path), field.is)) &&
    (match === null || match.test(answer.text))
  );
}

/** Whether one of the conditions matches. */
function fitsAny({ status, field, match }: AnswerRule, answer: GatewayAnswer): boolean {
  return (
    status?.includes(answer.status) === true ||
    (field !== null && areAll(valuesAt(answer.fields, field.path), field.is)) ||
    match?.test(answer.text) === true
  );
}

function areAll(values: readonly (string | null)[], allowed: readonly string[]): boolean {
  return values.length > 0 && values.every((value) => value !== null && allowed.includes(value));
}

/**
 * Whether some parts of the message were accepted and every other one was certainly not, by a rule about the same
 * field.
 */
function isPartlyAccepted(route: GatewayRoute, answer: GatewayAnswer): boolean {
  const { status, field, match } = route.accepted;
  if (field === null || !fitsWhole({ status, field: null, match }, answer)) return false;
  const values = valuesAt(answer.fields, field.path);
  const others = [route.refused, route.unknownRecipient, route.later, route.account];
  const notTaken = others.flatMap((rule) => (rule?.field?.path === field.path ? rule.field.is : []));
  const isTaken = values.some((value) => value !== null && field.is.includes(value));
  return isTaken && areAll(values, [...field.is, ...notTaken]);
}

/** The ids that receipts can contain; none if one of them is unusable. */
function idsIn(rule: IdRule | null, answer: GatewayAnswer): string[] {
  if (rule === null) return [];
  const found =
    'match' in rule
      ? [rule.match.exec(answer.text)?.[1] ?? null]
      : valuesAt(answer.fields, rule.path).slice(0, mostIds);
  const [only] = found;
  if (only != null && found.length === 1) return isId(only) ? [only] : [];
  const ids = found.flatMap((id) => (id !== null && isId(id) ? [id] : []));
  return ids.length === found.length ? [...new Set(ids)] : [];
}

/** Not a sentence, which might name somebody; nor a secret of its route, or its recipient's number. */
export function isCode(text: string, secrets: readonly string[], to: string): boolean {
  const number = to.replace(/\D/g, '').slice(-nationalDigits);
  if (!/^[\w.-]{1,40}$/.test(text) || withoutSecrets(secrets)(text) !== text) return false;
  return number === '' || !text.replace(/\D/g, '').includes(number);
}

/** Engines cannot store every string. */
export const isId = (text: string): boolean =>
  text !== '' && text.length <= longestId && !/[\p{Cc}\p{Cs}]/u.test(text);
