import {
  afterAll,
  type EventPage,
  type EventQuery,
  eventId,
  messagePage,
  type ReceivedMessage,
  type SuppressedRecipient,
  type UrtuuEvent,
} from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { systemRandom } from '../../random.js';
import type {
  BatchRecord,
  EventPlace,
  EventRecord,
  EventsTaken,
  MessageRecord,
  Store,
} from '../../storage/store.js';
import { timestamp } from '../../timestamp.js';
import type { OperationContext } from '../context.js';
import { invalid } from '../fields.js';
import type { Caller } from '../operations.js';
import { foundBatch, foundMessage } from '../resources.js';
import type { WhenEnded } from './event-waits.js';

/** Of an event, and of the place behind it. */
export const idOf = ({ line, number }: EventPlace): string =>
  `${line.toString(16).padStart(12, '0')}-${number}`;

/** Null if it is malformed. */
export function cursorOf(id: string): EventPlace | null {
  const [, line, number] = eventId.exec(id) ?? [];
  return line === undefined ? null : { line: Number.parseInt(line, 16), number: Number(number) };
}

/** Pages without an event of the types that a call looks through. */
const mostPages = 20;
/** Bytes of a line's name. */
const lineBytes = 6;

type Wanted = Parameters<Store['takeEvents']>[2];

/** GET /v1/events, an extension of the interface. */
export async function listEvents(
  context: OperationContext,
  { projectId }: Caller,
  { after, types, limit = messagePage.default, wait = 0 }: EventQuery,
  whenEnded?: WhenEnded,
): Promise<EventPage> {
  if (after === afterAll) return { data: [], next: idOf(await endOf(context, projectId)) };
  let place = after === undefined ? null : cursorOf(after);
  if (after !== undefined && place === null)
    throw invalid('after: must be the next of an earlier page or the id of an event');
  return context.eventWaits.run(
    projectId,
    wait * 1_000,
    async (waitBehind) => {
      for (let pages = 1; ; pages += 1) {
        const { events, next } = await take(context, projectId, place, { limit, types: types ?? null });
        const isBehind = next.number === place?.number;
        place = next;
        const isOver = events.length > 0 || pages >= mostPages || (isBehind && !(await waitBehind(next)));
        if (isOver) return { data: events.map(eventResource), next: idOf(next) };
        if (isBehind) pages = 0;
      }
    },
    whenEnded,
  );
}

/** Begins to record events if nobody has. */
async function take(
  { store }: OperationContext,
  projectId: string,
  place: EventPlace | null,
  wanted: Wanted,
): Promise<EventsTaken> {
  const begin = () =>
    store.beginEvents(projectId, Buffer.from(systemRandom.bytes(lineBytes)).readUIntBE(0, lineBytes));
  for (;;) {
    const taken = await store.takeEvents(projectId, place, wanted);
    if (taken === 'expired') {
      // What happens from now on, while somebody decides how to go on, is recorded.
      if ((await store.takeEvents(projectId, null, { limit: 1, types: null })) === null) await begin();
      throw new ServiceError(
        'cursor_expired',
        'after: the events after it are no longer kept; leave it out to begin with the oldest event kept',
      );
    }
    if (taken !== null) return taken;
    if (!(await begin()))
      throw new ServiceError('unavailable', 'The service cannot begin to record events now; try again');
  }
}

/** Behind all events so far. */
async function endOf(context: OperationContext, projectId: string): Promise<EventPlace> {
  const wanted = { limit: messagePage.max, types: [] };
  let { next } = await take(context, projectId, null, wanted);
  const [state] = await context.store.eventLines([projectId]);
  if (state?.line === next.line) next = { line: state.line, number: state.number };
  for (;;) {
    const { number } = next;
    next = (await take(context, projectId, next, wanted)).next;
    if (next.number === number) return next;
  }
}

function eventResource({ line, number, type, at, subject }: EventRecord): UrtuuEvent {
  const event = { id: idOf({ line, number }), type, at: timestamp(at) };
  switch (type) {
    case 'message.sent':
    case 'message.failed':
    case 'message.delivery':
      return { ...event, type, data: foundMessage(subject as MessageRecord) };
    case 'batch.completed':
      return { ...event, type, data: foundBatch(subject as BatchRecord) };
    case 'message.received':
      return { ...event, type, data: subject as ReceivedMessage | null };
    case 'recipient.suppressed': {
      const { to, reason } = (subject ?? {}) as SuppressedRecipient;
      return { ...event, type, data: subject === null ? null : { to, reason } };
    }
  }
}
