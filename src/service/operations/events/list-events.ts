import type { EventPage, EventQuery } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import type { OperationContext } from '../context.js';
import type { Caller } from '../operations.js';

/** A place in a line of events. */
export interface Cursor {
  line: number;
  number: number;
}

/** Of an event, and of the place behind it. */
export const idOf = ({ line, number }: Cursor): string => `${line.toString(16).padStart(12, '0')}-${number}`;

/** Null if it is malformed. */
export function cursorOf(id: string): Cursor | null {
  const [, line, number] = /^([0-9a-f]{12})-([0-9]{1,15})$/.exec(id) ?? [];
  return line === undefined ? null : { line: Number.parseInt(line, 16), number: Number(number) };
}

/** GET /v1/events, an extension of the interface. */
export async function listEvents(
  _context: OperationContext,
  _caller: Caller,
  _query: EventQuery,
): Promise<EventPage> {
  throw new ServiceError('not_found', 'No such route');
}
