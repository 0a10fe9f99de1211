import { type EventType, eventDays } from '../../contract/index.js';
import type { BatchRecord, Instant, MessageRecord } from './records.js';
import type { SuppressionRecord } from './suppressions.js';

/** Milliseconds for which an event is kept, and after which a line that nobody reads ends. */
export const keptFor = eventDays * 86_400_000;

/** A place in the line of a project's events: behind the event with that number. */
export interface EventPlace {
  /** Random. */
  line: number;
  /** Never used again in the line. */
  number: number;
}

export interface EventRecord extends EventPlace {
  type: EventType;
  at: Instant;
  /** As it is now; an incoming message that was erased, or a suppression that was removed, is null. */
  subject: MessageRecord | BatchRecord | SuppressionRecord | { id: string } | null;
}

export interface EventsTaken {
  events: EventRecord[];
  /** Behind the last of them, and behind those that were left out by their types. */
  next: EventPlace;
}

/** How far a line of events is: whoever is behind it, or in another line, has something to read. */
export interface LineState extends EventPlace {
  projectId: string;
  /** Whether there are events without a number. */
  hasNew: boolean;
}

/**
 * What happens in a project, recorded in the transaction in which it happens, from the first call on.
 *
 * An event is numbered when it is first read: by its number, an event that was committed later would come before one
 * that was read. Nobody reads an event whose number is not committed.
 */
export interface Events {
  /**
   * Begins a line, or finishes beginning it. Resolves when everything that is committed from now on is recorded; to false
   * if others are still writing what may not be.
   */
  beginEvents(projectId: string, line: number): Promise<boolean>;
  /**
   * Events behind a place, oldest first; of a line that nobody has begun, null. `expired` if it has ended, or if events
   * behind the place were deleted. Without a place, from the oldest.
   */
  takeEvents(
    projectId: string,
    after: EventPlace | null,
    wanted: { limit: number; types: readonly EventType[] | null },
  ): Promise<EventsTaken | 'expired' | null>;
  /** Of those of the projects that have a line. */
  eventLines(projectIds: readonly string[]): Promise<LineState[]>;
  /** Ends lines that nobody has read for `keptFor`, and deletes events that are older; how much it has done. */
  pruneEvents(): Promise<number>;
}
