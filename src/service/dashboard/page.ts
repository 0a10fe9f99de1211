import type { Child } from 'hono/jsx';
import { type ErrorCode, type Message, type MessageFilter, normalId } from '../../contract/index.js';
import type { ProjectAdministration } from '../administration.js';
import type { DeliveryRecord } from '../carriers/simulated/outbox.js';
import { ServiceError } from '../errors/service-error.js';
import type { AdmittedRequest, Operations } from '../operations/operations.js';
import { nightAt } from '../quiet/quiet-hours.js';
import type { Service } from '../service.js';
import type { LaneConnection } from '../storage/instances.js';
import type { Counted, Store } from '../storage/store.js';
import { fill, type Strings } from './language/language.js';

/** What the pages read and change, of a session's project. */
export interface PageContext {
  t: Strings;
  /** Milliseconds since 1970. */
  now: number;
  projectId: string;
  /** The session: the hash of its cookie, in hex. */
  name: string;
  /** Whether the session is of the service's owner, not of one project. */
  isOwner: boolean;
  /** It changes and sends nothing. */
  isReadOnly: boolean;
  store: Store;
  operations: Operations;
  administration: ProjectAdministration;
  channels: Service['channels'];
  /** The service's base URL for clients. */
  baseUrl: string;
  /** Lanes of real carriers, as connected on this instance. */
  connections: readonly LaneConnection[];
  /** Counts of a day, cached in proportion to the time they take. */
  countsSince(since: number): Promise<Counted>;
  /** The simulated operator's deliveries of messages. */
  deliveries(messageIds: readonly string[]): Promise<DeliveryRecord[]>;
  /** The captured part of the path. */
  id: string;
  query: Readonly<Record<string, string>>;
  /** The secret of the key created by the previous form; null once it was shown. */
  newSecret: string | null;
  /** An HMAC of a form and its contents. */
  nameOfForm(content: string): string;
  /** Takes the token of a send, and finds what was sent under its idempotency key. */
  takeToken(idempotencyKey: string | null): Promise<Pick<AdmittedRequest, 'rateLimit' | 'replay'>>;
  report(error: unknown): void;
}

export const sections = [
  'overview',
  'send',
  'messages',
  'batches',
  'outbox',
  'inbox',
  'balance',
  'keys',
  'settings',
] as const;
export type Section = (typeof sections)[number];

/** The content of a page. */
export interface View {
  title: string;
  section: Section;
  status?: number;
  body: Child;
  /** Of this page alone, beside the one of all pages. */
  script?: string;
}

/** A page without the frame of a project. */
export type Alone = Required<Pick<View, 'title' | 'status' | 'body'>>;

/** Null for a page that does not exist. */
export type Page = (context: PageContext) => Promise<View | null>;
/** A key that a form created: the next page shows its secret. */
export interface NewKey {
  id: string;
  secret: string;
}

/** Acts on a form; returns a page, the address to go on to, or a key. */
export type Form = (
  context: PageContext,
  fields: URLSearchParams,
) => Promise<View | Alone | string | NewKey | null>;

export const root = '/dashboard';

/** An address of the dashboard; empty fields are left out of its query. */
export function linkTo(
  path: string,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return root + path + (given.length === 0 ? '' : `?${new URLSearchParams(given)}`);
}

/** The id in an address; null for anything else. */
export const idOf = (given = ''): string | null => normalId(given);

/** Rows of a page of a list. */
export const rowsPerPage = 50;

export function listMessages(
  context: PageContext,
  filter: MessageFilter,
  limit: number,
  after: string | null = null,
): Promise<{ data: Message[]; next: string | null }> {
  return context.operations.listMessages(callerOf(context), filter, { limit, after });
}

/** Returns a refusal with this code instead of throwing it. */
export const orRefusal = <Value>(work: Promise<Value>, code: ErrorCode): Promise<Value | ServiceError> =>
  work.catch((error) => {
    if (error instanceof ServiceError && error.code === code) return error;
    throw error;
  });

/** Until when no message of a list leaves; null while it is not quiet. */
export async function quietIn({ administration, now, t }: PageContext): Promise<string | null> {
  const night = nightAt(await administration.settings.get(), now);
  return night && fill(t.quiet, { time: night.clock });
}

export const callerOf = ({ projectId }: PageContext) => ({ projectId, keyId: 'dashboard' });
