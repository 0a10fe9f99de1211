import { fill, type Strings } from '../language/language.js';
import type { Alone, PageContext, View } from '../page.js';
import { grouped } from '../parts/format.js';
import { Facts, Notice, OfProject, Panel } from '../parts/parts.js';
import { type Draft, type Plan, sizeOf } from './draft.js';
import { addressOf } from './form.js';

/** The contents of the form on a page that does not show it. */
const Carried = ({ draft }: { draft: Draft }) => (
  <>
    {(['channel', 'to', 'subject', 'text'] as const).map((name) => (
      <input type="hidden" name={name} value={draft[name]} />
    ))}
  </>
);

export function preview(
  context: PageContext,
  form: string,
  draft: Draft,
  { recipients, credits }: Plan,
  more: {
    balance: number;
    /** Of the recipients of a batch. */
    suppressed: number;
    /** Of an email. */
    from: string | null;
    trouble?: string | undefined;
    status?: number;
  },
): View {
  const { t } = context;
  const { channel, subject, text } = draft;
  const total = credits * recipients.length;
  const size = sizeOf(draft);
  const { balance, suppressed, from, trouble, status = 200 } = more;
  return {
    title: t.send,
    section: 'send',
    status,
    body: (
      <>
        {trouble && <Notice kind="bad" title={trouble} />}
        <Panel title={t.preview}>
          <Facts
            facts={[
              [t.channel, t[channel]],
              [t.to, <Recipients recipients={recipients} t={t} />],
              [t.suppressedTitle, suppressed > 0 ? fill(t.suppressedSome, { count: suppressed }) : null],
              [t.from, from],
              [
                t.parts,
                size &&
                  fill(size.kind === 'latin' ? t.partsLatin : t.partsCyrillic, {
                    parts: size.parts,
                    units: size.units,
                  }),
              ],
              [
                t.credits,
                fill(t.cost, {
                  each: grouped(credits),
                  count: grouped(recipients.length),
                  total: grouped(total),
                  balance: grouped(balance),
                }),
              ],
            ]}
          />
          <div class="outbox">
            {channel === 'email' && <p class="subject">{subject}</p>}
            <p class="text" dir="auto">
              {text}
            </p>
          </div>
          <form method="post" action={addressOf(context, form, channel)} class="actions">
            <OfProject context={context} />
            <Carried draft={draft} />
            <input type="hidden" name="price" value={total} />
            <button type="submit" class="primary" name="do" value="send">
              {t.send}
            </button>
            <button type="submit" name="do" value="edit">
              {t.edit}
            </button>
          </form>
        </Panel>
      </>
    ),
  };
}

function Recipients({ recipients, t }: { recipients: Plan['recipients']; t: Strings }) {
  const all = recipients.map(({ to }) => to);
  if (all.length <= 3) return all.join(', ');
  return (
    <details>
      <summary>{fill(t.recipientCount, { count: grouped(all.length) })}</summary>
      {all.join(', ')}
    </details>
  );
}

/** It may have been sent: what was in the form asks again, under the same key. */
export const inDoubt = (
  context: PageContext,
  form: string,
  draft: Draft,
  message: string,
  given: URLSearchParams,
): Alone => ({
  title: context.t.doubtTitle,
  status: 503,
  body: (
    <form method="post" action={addressOf(context, form, draft.channel)}>
      <p>{message}</p>
      <p>{context.t.doubtText}</p>
      <OfProject context={context} />
      <Carried draft={draft} />
      {['price', 'do'].map((name) => (
        <input type="hidden" name={name} value={given.get(name) ?? ''} />
      ))}
      <button type="submit" class="primary">
        {context.t.askAgain}
      </button>
    </form>
  ),
});
