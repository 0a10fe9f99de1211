import type * as z from 'zod/mini';
import { ServiceError } from '../../service-error.js';
import { quoteKey } from '../body/strict-json.js';

/** Issues one message names; a thousand wrong recipients need not be told one by one. */
const namedIssues = 5;

/** Checks a value against its schema. Throws `invalid_request` that names each field and the rule it breaks. */
export function parse<Output>(schema: z.ZodMiniType<Output>, value: unknown): Output {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => describe(issue, value));
  const more = problems.length > namedIssues ? `; and ${problems.length - namedIssues} more` : '';
  throw new ServiceError('invalid_request', problems.slice(0, namedIssues).join('; ') + more);
}

function describe(issue: z.core.$ZodIssue, value: unknown): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${quoteKey(key)}: is not a known field`);
  const name = issue.path.reduce<string>(
    (path, step) => (typeof step === 'number' ? `${path}[${step}]` : `${path}${path && '.'}${String(step)}`),
    '',
  );
  const rule = ruleOf(issue, isMissing(issue.path, value));
  return [name === '' ? rule : `${name}: ${rule}`];
}

function ruleOf(issue: z.core.$ZodIssue, missing: boolean): string {
  if (missing) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `must ${issue.origin === 'array' ? 'have at least' : 'be at least'} ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${issue.origin === 'array' ? 'have at most' : 'be at most'} ${counted(issue.maximum, issue.origin)}`;
    default:
      return issue.message;
  }
}

const nouns: Record<string, string> = {
  string: 'a string',
  array: 'an array',
  object: 'an object',
  number: 'a whole number',
  int: 'a whole number',
};

function counted(limit: number | bigint, origin: string): string {
  return origin === 'array' ? `${limit} ${limit === 1 ? 'entry' : 'entries'}` : String(limit);
}

function isMissing(path: PropertyKey[], value: unknown): boolean {
  return path.length === 1 && (value as Record<PropertyKey, unknown>)[path[0] as PropertyKey] === undefined;
}
