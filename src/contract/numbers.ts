/** The first two digits of each operator's numbers; a service can use another table. */
export const defaultOperators: Readonly<Record<string, readonly string[]>> = {
  Mobicom: ['85', '94', '95', '99'],
  Unitel: ['80', '86', '88', '89'],
  Skytel: ['90', '91', '92', '96'],
  'G-Mobile': ['83', '93', '97', '98'],
};
/** Operators whose route does not allow links. */
export const defaultNoLinkOperators: readonly string[] = ['Skytel', 'G-Mobile'];

export type OperatorTable = Readonly<Record<string, readonly string[]>>;

export type NumberReading =
  | { kind: 'number'; number: string; operator: string }
  /** A phone number of no operator in the table. */
  | { kind: 'unsupported' }
  /** Not a phone number. */
  | { kind: 'invalid' };

/**
 * Reads a recipient number. Its normal form is 8 digits; a leading `+976`, `976` or `00976`, spaces and
 * dashes are accepted (POST /v1/sms, `to`).
 */
export function readNumber(written: string, operators: OperatorTable = defaultOperators): NumberReading {
  const bare = withoutMarks(written);
  const number = normalNumber(bare);
  if (number !== null) {
    const operator = operatorOf(number, operators);
    return operator === undefined ? { kind: 'unsupported' } : { kind: 'number', number, operator };
  }
  return /^\+?[0-9]{6,15}$/.test(bare) ? { kind: 'unsupported' } : { kind: 'invalid' };
}

/** The 8 digits of a Mongolian number, of any operator; null for anything else. */
export function normalNumber(written: string): string | null {
  return /^(?:\+976|00976|976)?([0-9]{8})$/.exec(withoutMarks(written))?.[1] ?? null;
}

const withoutMarks = (written: string) => written.replace(/[ -]/g, '');

function operatorOf(number: string, operators: OperatorTable): string | undefined {
  const prefix = number.slice(0, 2);
  return Object.keys(operators).find((name) => operators[name]?.includes(prefix));
}
