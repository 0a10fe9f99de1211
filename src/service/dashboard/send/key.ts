import { randomBytes } from 'node:crypto';
import { comparedRecipient, type Message, normalizeRecipient } from '../../../contract/index.js';
import { sessionLife } from '../../admin/sign-in.js';
import type { PageContext } from '../page.js';
import type { Draft } from './draft.js';

const prefix = 'dashboard-';
const hour = 3_600_000;

/** Sorts as the time does. */
const written = (at: number) => at.toString(36).padStart(9, '0');

/** Names a new form: the time, and a nonce. */
export const newForm = (now: number): string => written(now) + randomBytes(12).toString('hex');

/** The form in an address. With `now` only one of the last hours: a bookmark opens a new form. */
export function formIn({ form = '' }: PageContext['query'], now?: number): string | null {
  if (!/^[0-9a-z]{9}[0-9a-f]{24}$/.test(form)) return null;
  const age = now === undefined ? 0 : now - Number.parseInt(form.slice(0, 9), 36);
  return Math.abs(age) < sessionLife ? form : null;
}

/**
 * The idempotency key of a form with these contents, in whatever order and spelling its recipients are: pressed twice,
 * loaded again or come back to, it sends nothing new. The time in it tells where to look for what was sent then.
 */
export const keyOf = (
  { nameOfForm }: Pick<PageContext, 'nameOfForm'>,
  form: string,
  { channel, entries, subject, text }: Draft,
): string => {
  const recipients = new Set(entries.map((entry) => comparedRecipient(normalizeRecipient(entry))));
  const contents = [form, channel, subject, text, ...[...recipients].sort()];
  return `${prefix}${form.slice(0, 9)}-${nameOfForm(JSON.stringify(contents))}`;
};

/** Whether the dashboard sent a message or a batch: as its key says, which is of a form of a session before. */
export function isSentHere(
  { store, projectId }: PageContext,
  { id, created_at: createdAt }: Pick<Message, 'id' | 'created_at'>,
): Promise<boolean> {
  const at = Date.parse(createdAt);
  const keys = [at - 2 * sessionLife, at + hour].map((end) => prefix + written(end));
  return store.isKeyedBetween(projectId, id, [keys[0] ?? '', keys[1] ?? '']);
}
