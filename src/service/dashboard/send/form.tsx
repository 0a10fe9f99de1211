import type { Child } from 'hono/jsx';
import {
  gsmCharacters,
  gsmExtensionCharacters,
  maxBatchRecipients,
  maxParts,
  type Pricing,
  unitsPerPart,
} from '../../../contract/index.js';
import { assetPaths } from '../assets/assets.js';
import { fill, type Strings } from '../language/language.js';
import { linkTo, type PageContext, type View } from '../page.js';
import { grouped } from '../parts/format.js';
import { OfProject } from '../parts/parts.js';
import { type Draft, type FieldName, pricesOf, sizeOf, type Trouble } from './draft.js';

type Look = Pick<PageContext, 't' | 'query'>;

/** Where the form is: all but its contents, which no address has. */
export const addressOf = ({ query }: Look, form: string, channel: Draft['channel']) =>
  linkTo('/send', { channel, reply: query.reply, form });

const sizeWords = (t: Strings, kind: 'latin' | 'cyrillic') =>
  `${t.parts}: ${kind === 'latin' ? t.partsLatin : t.partsCyrillic} · ${t.credits}: {credits}`;

/** What the text is, and what it costs. */
function sizeLine(draft: Draft, pricing: Pricing, t: Strings): string {
  const size = sizeOf(draft);
  const prices = pricesOf(draft, pricing);
  const count = new Set(draft.entries).size || 1;
  const price = size === null ? prices[0] : size.parts === 0 ? 0 : prices[size.parts - 1];
  const credits = price === undefined ? '–' : grouped(price * count);
  if (size === null) return `${t.credits}: ${credits}`;
  const parts = `${size.parts}/${maxParts}`;
  return fill(sizeWords(t, size.kind), { parts, units: size.units, credits });
}

/** For the script that counts. */
const counted = (draft: Draft, pricing: Pricing, t: Strings) => ({
  'data-prices': pricesOf(draft, pricing).join(' '),
  ...(draft.channel === 'email'
    ? { 'data-email': `${t.credits}: {credits}` }
    : {
        'data-one': gsmCharacters,
        'data-two': gsmExtensionCharacters,
        'data-sizes': `${unitsPerPart.latin} ${unitsPerPart.cyrillic}`,
        'data-latin': sizeWords(t, 'latin'),
        'data-cyrillic': sizeWords(t, 'cyrillic'),
      }),
});

export function formView(
  context: PageContext,
  form: string,
  draft: Draft,
  pricing: Pricing,
  { above, troubles = [], status = 200 }: { above?: Child; troubles?: readonly Trouble[]; status?: number },
): View {
  const { t } = context;
  const { channel } = draft;
  const inField = (name: FieldName) => troubles.find(({ field }) => field === name);
  return {
    title: t.send,
    section: 'send',
    status,
    script: assetPaths.counter,
    body: (
      <>
        <nav class="tabs" aria-label={t.channel}>
          {(['sms', 'email'] as const).map((each) => (
            <a href={addressOf(context, form, each)} aria-current={each === channel ? 'page' : undefined}>
              {t[each]}
            </a>
          ))}
        </nav>
        {above}
        {troubles.length > 0 && <Troubles troubles={troubles} />}
        <section class="panel">
          <form method="post" action={addressOf(context, form, channel)} class="wide">
            <OfProject context={context} />
            <input type="hidden" name="channel" value={channel} />
            <Area
              name="to"
              label={t.recipients}
              value={draft.to}
              rows={3}
              trouble={inField('to')}
              hint={fill(t.recipientsHint, { max: grouped(maxBatchRecipients) })}
            />
            {channel === 'email' && (
              <p class="field">
                <label for="subject">{t.subject}</label>
                <input
                  id="subject"
                  name="subject"
                  value={draft.subject}
                  autocomplete="off"
                  required
                  aria-invalid={inField('subject') && 'true'}
                  aria-describedby={inField('subject') && 'subject-trouble'}
                />
                <Wrong trouble={inField('subject')} />
              </p>
            )}
            <Area
              name="text"
              label={t.text}
              value={draft.text}
              rows={8}
              trouble={inField('text')}
              hint={sizeLine(draft, pricing, t)}
              counted={counted(draft, pricing, t)}
            />
            <p class="actions">
              <button type="submit" class="primary">
                {t.preview}
              </button>
            </p>
          </form>
        </section>
      </>
    ),
  };
}

function Area({
  name,
  label,
  value,
  rows,
  hint,
  trouble,
  counted: data = {},
}: {
  name: FieldName;
  label: string;
  value: string;
  rows: number;
  hint: string;
  trouble: Trouble | undefined;
  counted?: Record<string, string>;
}) {
  const about = trouble ? `${name}-trouble ${name}-hint` : `${name}-hint`;
  return (
    <p class="field">
      <label for={name}>{label}</label>
      <textarea
        id={name}
        name={name}
        rows={rows}
        required
        dir="auto"
        aria-invalid={trouble && 'true'}
        aria-describedby={about}
      >
        {/* A browser leaves the first line end out. */}
        {`\n${value}`}
      </textarea>
      <Wrong trouble={trouble} />
      <small id={`${name}-hint`} class="hint" {...data}>
        {hint}
      </small>
    </p>
  );
}

const Wrong = ({ trouble }: { trouble: Trouble | undefined }) =>
  trouble ? (
    <small id={`${trouble.field}-trouble`} class="bad">
      {trouble.message}
    </small>
  ) : null;

/** Above the form, for those who do not see the fields. */
const Troubles = ({ troubles }: { troubles: readonly Trouble[] }) => (
  <div class="notice bad" role="alert">
    {troubles.map(({ message, entries = [] }) => (
      <>
        <strong>{message}</strong>
        {entries.length > 0 && (
          <ul>
            {entries.map((entry) => (
              <li>
                <code>{entry}</code>
              </li>
            ))}
          </ul>
        )}
      </>
    ))}
  </div>
);
