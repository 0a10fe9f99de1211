import * as z from 'zod/mini';
import { ServiceError } from './errors/service-error.js';

/** A check of a string; `error` is the rule in the words of the refusal. */
export const rule = (holds: (text: string) => boolean, error: string) => z.refine<string>(holds, { error });

/** First digits of an operator's numbers. */
export const prefix = z.string().check(rule((text) => /^[0-9]{2}$/.test(text), 'must be two digits'));

/** Problems named in one message, which might otherwise list a thousand wrong recipients. */
const namedProblems = 5;

/** Parses a value with its schema. Throws `invalid_request` with each invalid field (after `root`) and its rule. */
export function parseFields<Output>(schema: z.ZodMiniType<Output>, value: unknown, root = ''): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, value, root));
  const more = problems.length > namedProblems ? `; and ${problems.length - namedProblems} more` : '';
  throw new ServiceError('invalid_request', problems.slice(0, namedProblems).join('; ') + more);
}

function problemsOf(issue: z.core.$ZodIssue, value: unknown, root: string): string[] {
  const name = fieldName(issue.path, root);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${name === '' ? '' : `${name}.`}${quoteKey(key)}: is not a known field`);
  }
  const rule = ruleOf(issue, isMissing(issue.path, value));
  return [name === '' ? rule : `${name}: ${rule}`];
}

/** `settings.operators.Unitel[0]`. */
function fieldName(path: PropertyKey[], root: string): string {
  return path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : `${name}${name && '.'}${String(step)}`),
    root,
  );
}

function ruleOf(issue: z.core.$ZodIssue, missing: boolean): string {
  if (missing) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `must ${verbOf(issue.origin)} at least ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${verbOf(issue.origin)} at most ${counted(issue.maximum, issue.origin)}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? issue.message;
    default:
      return issue.message;
  }
}

const nouns: Record<string, string> = {
  string: 'a string',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
};

const units: Record<string, [one: string, many: string]> = {
  array: ['entry', 'entries'],
  string: ['character', 'characters'],
};

const verbOf = (origin: string) => (origin in units ? 'have' : 'be');

function counted(limit: number | bigint, origin: string): string {
  const [one, many] = units[origin] ?? [];
  return one === undefined ? String(limit) : `${limit} ${limit === 1 ? one : many}`;
}

function isMissing(path: PropertyKey[], value: unknown): boolean {
  const found = path.reduce((at, step) => (at as Record<PropertyKey, unknown> | undefined)?.[step], value);
  return path.length > 0 && found === undefined;
}

/** A key from the caller, for a message: unchanged if it is a plain word, else as a short JSON string. */
export function quoteKey(key: string): string {
  return /^\w{1,64}$/.test(key) ? key : JSON.stringify(key.slice(0, 64));
}
