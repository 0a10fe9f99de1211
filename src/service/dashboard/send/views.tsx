import type { Child } from 'hono/jsx';
import {
  gsmCharacters,
  gsmExtensionCharacters,
  maxBatchRecipients,
  maxParts,
  unitsPerPart,
} from '../../../contract/index.js';
import { insufficient } from '../../operations/accept-and-dispatch.js';
import { assetPaths } from '../assets/assets.js';
import { fill } from '../language/language.js';
import { type Alone, callerOf, linkTo, type PageContext, quietIn, type View } from '../page.js';
import { grouped } from '../parts/format.js';
import { Facts, Field, Notice, OfProject, Panel, partsLine } from '../parts/parts.js';
import { type Draft, type FieldName, type Plan, pricesOf, sizeOf, type Trouble } from './draft.js';

/** A form, and what stands in it. */
export interface Filled {
  context: PageContext;
  form: string;
  draft: Draft;
}

/** Where the form is: no address has its contents. */
const addressOf = ({ context: { query }, form }: Filled, channel: Draft['channel']) =>
  linkTo('/send', { channel, reply: query.reply, form });

export async function formView(
  filled: Filled,
  { above, troubles = [], status = 200 }: { above?: Child; troubles?: readonly Trouble[]; status?: number },
): Promise<View> {
  const { context, draft } = filled;
  const { t } = context;
  const { channel } = draft;
  const { line, data } = await sizeLine(filled);
  const field = (name: FieldName) => ({
    name,
    value: draft[name],
    required: true,
    trouble: troubles.find((each) => each.field === name)?.message,
  });
  return {
    title: t.send,
    section: 'send',
    status,
    script: assetPaths.counter,
    body: (
      <>
        <nav class="tabs" aria-label={t.channel}>
          {(['sms', 'email'] as const).map((each) => (
            <a href={addressOf(filled, each)} aria-current={each === channel ? 'page' : undefined}>
              {t[each]}
            </a>
          ))}
        </nav>
        {above}
        {troubles.map(({ message, entries = [] }) => (
          <Notice kind="bad" title={message}>
            <p class="text">{entries.join('\n')}</p>
          </Notice>
        ))}
        <section class="panel">
          <form method="post" action={addressOf(filled, channel)}>
            <OfProject context={context} />
            <input type="hidden" name="channel" value={channel} />
            <Field
              {...field('to')}
              label={t.recipients}
              rows={3}
              hint={fill(t.recipientsHint, { max: grouped(maxBatchRecipients) })}
            />
            {channel === 'email' && <Field {...field('subject')} label={t.subject} autocomplete="off" />}
            <Field {...field('text')} label={t.text} rows={8} hint={line} {...data} />
            <button type="submit" class="primary">
              {t.preview}
            </button>
          </form>
        </section>
      </>
    ),
  };
}

/** What the text is and costs; and for the script, what it needs to say the same. */
export async function sizeLine({
  context,
  draft,
}: Filled): Promise<{ line: string; data: Record<string, string> }> {
  const { t } = context;
  const prices = pricesOf(draft, await context.operations.getPricing(callerOf(context)));
  const size = sizeOf(draft);
  const { kind, units, parts } = size ?? { kind: 'latin', units: 0, parts: 1 };
  const cost = (parts === 0 ? 0 : (prices[parts - 1] ?? Number.NaN)) * (new Set(draft.entries).size || 1);
  const costs = `${t.credits}: {credits}`;
  const words = {
    latin: `${t.parts}: ${t.partsLatin} · ${costs}`,
    cyrillic: `${t.parts}: ${t.partsCyrillic} · ${costs}`,
  };
  const values = { parts: `${parts}/${maxParts}`, units, credits: Number.isNaN(cost) ? '–' : grouped(cost) };
  return {
    line: fill(size === null ? costs : words[kind], values),
    data: {
      'data-prices': prices.join(' '),
      ...(size === null
        ? { 'data-email': costs }
        : {
            'data-one': gsmCharacters,
            'data-two': gsmExtensionCharacters,
            'data-sizes': `${unitsPerPart.latin} ${unitsPerPart.cyrillic}`,
            'data-latin': words.latin,
            'data-cyrillic': words.cyrillic,
          }),
    },
  };
}

/** A form that shows no fields: what was written goes along. */
function Carried({
  filled,
  more,
  children,
}: {
  filled: Filled;
  more: Readonly<Record<string, string | null>>;
  children?: Child;
}) {
  const { channel, to, subject, text } = filled.draft;
  const fields = { channel, to, subject, text, ...more };
  return (
    <form method="post" action={addressOf(filled, channel)} class="actions">
      <OfProject context={filled.context} />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value ?? ''} />
      ))}
      {children}
    </form>
  );
}

export async function preview(
  filled: Filled,
  { recipients, credits }: Plan,
  { trouble, status = 200 }: { trouble?: string; status?: number } = {},
): Promise<View> {
  const { context, draft } = filled;
  const { t, operations } = context;
  const { channel, subject, text } = draft;
  const caller = callerOf(context);
  const to = recipients.map((each) => each.to);
  const count = to.length;
  const { balance } = await operations.getBalance(caller);
  const { length: suppressed } = (await operations.checkSuppressions(caller, { to })).data;
  const quiet = count > 1 && (await quietIn(context));
  const size = sizeOf(draft);
  const total = credits * count;
  const isTooMuch = total > balance;
  // To a single recipient it is refused.
  const canSend = !isTooMuch && (count > 1 || suppressed === 0);
  return {
    title: t.send,
    section: 'send',
    status,
    body: (
      <>
        {trouble && <Notice kind="bad" title={trouble} />}
        {isTooMuch && <Notice kind="bad" title={insufficient(total, balance).message} />}
        <Panel title={t.preview}>
          <Facts
            facts={[
              [t.channel, t[channel]],
              [
                t.recipients,
                count === 1 ? (
                  to
                ) : (
                  <details>
                    <summary>{grouped(count)}</summary>
                    {to.join(', ')}
                  </details>
                ),
              ],
              [
                t.suppressed,
                suppressed > 0 &&
                  (count > 1 ? fill(t.suppressedSome, { count: suppressed }) : t.suppressionsHint),
              ],
              [t.waitingNow, quiet],
              [t.parts, size && partsLine(size, t)],
              [
                t.credits,
                fill(t.cost, {
                  each: grouped(credits),
                  count: grouped(count),
                  total: grouped(total),
                  balance: grouped(balance),
                }),
              ],
            ]}
          />
          <h3>{t.text}</h3>
          {channel === 'email' && <p class="subject">{subject}</p>}
          <p class="text" dir="auto">
            {text}
          </p>
          <Carried filled={filled} more={{ price: `${total}` }}>
            {canSend && (
              <button type="submit" class="primary" name="do" value="send">
                {t.send}
              </button>
            )}
            <button type="submit" name="do" value="edit">
              {t.edit}
            </button>
          </Carried>
        </Panel>
      </>
    ),
  };
}

/** It may have been sent: the same form asks again, under its key. */
export const inDoubt = (filled: Filled, message: string, given: URLSearchParams, status = 503): Alone => ({
  title: filled.context.t.doubtTitle,
  status,
  body: (
    <>
      <p>{message}</p>
      <p>{filled.context.t.doubtText}</p>
      <Carried filled={filled} more={{ price: given.get('price'), do: given.get('do') }}>
        <button type="submit" class="primary">
          {filled.context.t.askAgain}
        </button>
      </Carried>
    </>
  ),
});
