import type { AcceptedRecipient } from '../../acceptance.js';
import { jsonObject } from '../database/json-object.js';

/** Digits of a way's number. */
const digits = 4;

/** SQL: the number of a way, which precedes the recipient at an index. */
export const wayOf = (index: string) => `printf('%0${digits}d', ${index})`;
export const wayIn = (value: string) => `substr(${value}, 1, ${digits})`;
export const recipientIn = (value: string) => `substr(${value}, ${digits + 1})`;

/**
 * The recipients of a batch as JSON: `{"<message id>": "<number of the way><recipient>"}`, and their few ways:
 * `[[operator, lane, route]]`.
 */
export function batchRows(
  recipients: readonly AcceptedRecipient[],
  isMarked: boolean,
): { recipients: string; ways: string } {
  const ways: (string | null)[][] = [];
  const numbers = new Map<string, string>();
  const rows = jsonObject(recipients, ({ id, to, operator, lane, route }) => {
    const way = `${operator} ${lane} ${route}`;
    let number = numbers.get(way);
    if (number === undefined) {
      number = `${ways.length}`.padStart(digits, '0');
      numbers.set(way, number);
      ways.push([operator, lane, isMarked ? route : null]);
    }
    return [id, number + to];
  });
  return { recipients: rows, ways: JSON.stringify(ways) };
}
