import type { Child } from 'hono/jsx';
import { recipientCaps } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { maxNameLength, type Settings } from '../../settings.js';
import { fill } from '../language/language.js';
import { type Form, linkTo, orRefusal, type Page, type PageContext, type View } from '../page.js';
import { Field, Notice, OfProject } from '../parts/parts.js';
import { emailTopic } from './settings-email.js';
import { number, type Topic, text } from './settings-topic.js';

const [tenMinutes, day] = recipientCaps;

const written = (words: readonly string[]) => words.join(', ');

/** Words that were not changed stay as they are: they may be the default, or have a comma in them. */
function words(name: 'stop_words' | 'start_words', fields: URLSearchParams, current: Settings) {
  const given = fields.get(name);
  if (given === null || given === written(current[name])) return {};
  return { [name]: given.split(',').flatMap((each) => each.trim() || []) };
}

const sendingTopic: Topic = {
  path: 'sending',
  title: (t) => t.sending,
  values: ({ caps, brand_name: brand, reply_to: replyTo, stop_words: stop, start_words: start }) => ({
    stop_words: written(stop),
    start_words: written(start),
    per_10_minutes: String(caps.per_10_minutes),
    per_24_hours: String(caps.per_24_hours),
    brand_name: brand ?? '',
    reply_to: replyTo ?? '',
  }),
  fields: ({ t }, value) => (
    <>
      <fieldset>
        <legend>{t.capsTitle}</legend>
        <p class="hint">{t.capsNote}</p>
        {(
          [
            ['per_10_minutes', t.perTenMinutes, tenMinutes],
            ['per_24_hours', t.perDay, day],
          ] as const
        ).map(([name, label, { maxMessages: max }]) => (
          <Field
            name={name}
            label={label}
            max={max}
            hint={fill(t.upTo, { max })}
            type="number"
            min={1}
            value={value(name)}
            required
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>{t.sender}</legend>
        <Field
          name="brand_name"
          label={t.brandName}
          hint={t.brandHint}
          value={value('brand_name')}
          maxlength={maxNameLength}
          autocomplete="organization"
        />
        <Field
          name="reply_to"
          label={t.replyTo}
          hint={t.replyToHint}
          type="email"
          value={value('reply_to')}
          autocomplete="email"
        />
      </fieldset>
      <fieldset>
        <legend>{t.replies}</legend>
        <p class="hint">{t.repliesHint}</p>
        <Field name="stop_words" label={t.stopWords} value={value('stop_words')} autocomplete="off" />
        <Field name="start_words" label={t.startWords} value={value('start_words')} autocomplete="off" />
      </fieldset>
    </>
  ),
  patch: (fields, current) => ({
    caps: {
      per_10_minutes: number(fields, 'per_10_minutes'),
      per_24_hours: number(fields, 'per_24_hours'),
    },
    brand_name: text(fields, 'brand_name'),
    reply_to: text(fields, 'reply_to'),
    ...words('stop_words', fields, current),
    ...words('start_words', fields, current),
  }),
};

const pricesTopic: Topic = {
  path: 'prices',
  title: (t) => t.pricesAndHolidays,
  values: ({ prices }) => ({ sms_part: String(prices.sms_part), email: String(prices.email) }),
  fields: ({ t }, value, { holidays }) => (
    <>
      <fieldset>
        <legend>{t.prices}</legend>
        <p class="hint">{t.priceNote}</p>
        <Field name="sms_part" label={t.smsPrice} type="number" min={0} value={value('sms_part')} required />
        <Field name="email" label={t.email} type="number" min={0} value={value('email')} required />
      </fieldset>
      <fieldset>
        <legend>{t.holidays}</legend>
        <p class="hint">{t.holidaysNote}</p>
        {Object.entries(holidays)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([date, multiplier], index) => (
            <HolidayRow t={t} index={index} date={date} multiplier={multiplier} />
          ))}
        <HolidayRow t={t} index={Object.keys(holidays).length} />
      </fieldset>
    </>
  ),
  patch(fields, current) {
    const removed = new Set(fields.getAll('remove'));
    const multipliers = fields.getAll('multiplier');
    const rows = fields.getAll('date').map((date, index) => [date.trim(), multipliers[index] ?? ''] as const);
    const kept = rows.filter(([date]) => date !== '' && !removed.has(date));
    // Holidays that others have added since the page was shown stay.
    const others = Object.entries(current.holidays).filter(([date]) => !removed.has(date));
    return {
      prices: { sms_part: number(fields, 'sms_part'), email: number(fields, 'email') },
      holidays: Object.fromEntries([
        ...others,
        ...kept.map(([date, multiplier]) => [date, Number(multiplier.trim() || Number.NaN)]),
      ]),
    };
  },
};

/** A holiday that is there, or the empty row for a new one. */
function HolidayRow({
  t,
  index,
  date,
  multiplier,
}: {
  t: PageContext['t'];
  index: number;
  date?: string;
  multiplier?: number;
}) {
  const isNew = date === undefined;
  return (
    <fieldset class="holiday" aria-label={isNew ? t.addHoliday : date}>
      <p class="field">
        <label for={`date${index}`}>{isNew ? t.addHoliday : t.date}</label>
        <input id={`date${index}`} type="date" name="date" value={date ?? ''} readonly={!isNew} />
      </p>
      <p class="field">
        <label for={`multiplier${index}`}>{t.times}</label>
        <input
          id={`multiplier${index}`}
          type="number"
          name="multiplier"
          min={0}
          max={100}
          step="any"
          value={multiplier ?? ''}
        />
      </p>
      {!isNew && (
        <label class="check">
          <input type="checkbox" name="remove" value={date} /> {t.remove}
        </label>
      )}
    </fieldset>
  );
}

/** The session of a project sees it, and cannot change it. */
const isOfOwner = (topic: Topic, { isOwner }: PageContext) => topic === pricesTopic && !isOwner;

async function settingsView(
  context: PageContext,
  topic: Topic,
  settings: Settings,
  notice: Child,
  /** Of a form that was refused: they stay, where they can be put right. */
  given?: URLSearchParams,
): Promise<View> {
  const { t } = context;
  const facts = await topic.facts?.(context, settings);
  const shown = given ?? new URLSearchParams(topic.values(settings));
  const fields = topic.fields(context, (name) => shown.get(name) ?? '', settings);
  return {
    title: t.settings,
    section: 'settings',
    body: (
      <>
        <nav class="tabs" aria-label={t.settings}>
          {topics.map((each) => (
            <a href={linkTo(`/settings/${each.path}`)} aria-current={each === topic ? 'page' : undefined}>
              {each.title(t)}
            </a>
          ))}
        </nav>
        {notice}
        {facts}
        <section class="panel">
          {context.isReadOnly || isOfOwner(topic, context) ? (
            <fieldset disabled>
              <p class="hint">{context.isReadOnly ? t.onlyLooks : t.pricesOfOwner}</p>
              {fields}
            </fieldset>
          ) : (
            <form method="post" action={linkTo(`/settings/${topic.path}`)}>
              <OfProject context={context} />
              <input type="hidden" name="shown" value={given?.get('shown') ?? `${shown}`} />
              {fields}
              <p class="actions">
                <button type="submit" class="primary">
                  {t.save}
                </button>
              </p>
            </form>
          )}
        </section>
      </>
    ),
  };
}

export const settingsPage =
  (topic: Topic): Page =>
  async (context) =>
    settingsView(
      context,
      topic,
      await context.administration.settings.get(),
      context.query.done === 'saved' && <Notice kind="good" title={context.t.saved} />,
    );

export const settingsForm =
  (topic: Topic): Form =>
  async (context, fields) => {
    if (isOfOwner(topic, context)) throw new ServiceError('forbidden', context.t.pricesOfOwner);
    const { settings } = context.administration;
    const change = (current: Settings) => topic.patch(changedIn(fields, topic.values(current)), current);
    const saved = await orRefusal(settings.update(change), 'invalid_request');
    if (!(saved instanceof ServiceError)) return linkTo(`/settings/${topic.path}`, { done: 'saved' });
    const current = await settings.get();
    const { holidays = current.holidays } = change(current);
    const notice = (
      <Notice kind="bad" title={context.t.notSaved}>
        {saved.message}
      </Notice>
    );
    return { ...(await settingsView(context, topic, { ...current, holidays }, notice, fields)), status: 400 };
  };

/** Fields that were not changed in the form keep their current values, which others may have changed meanwhile. */
function changedIn(fields: URLSearchParams, now: ReturnType<Topic['values']>): URLSearchParams {
  const changed = new URLSearchParams(fields);
  for (const [name, value] of new URLSearchParams(fields.get('shown') ?? ''))
    if ((fields.get(name) ?? '') === value) changed.set(name, now[name] ?? '');
  return changed;
}

export const topics = [sendingTopic, emailTopic, pricesTopic];
