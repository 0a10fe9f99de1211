import { type ErrorEnvelope, maxSubjectLength } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { rateLimited } from '../../operations/admission.js';
import type { Answer } from '../../operations/operations.js';
import { type Form, idOf, linkTo, type Page } from '../page.js';
import { Excerpt, Notice, Panel } from '../parts/parts.js';
import { draftOf, type FieldName, planOf, sendDraft } from './draft.js';
import { formIn, keyOf, newForm } from './key.js';
import { formView, inDoubt, preview } from './views.js';

/** An empty form, or a reply to a message in the inbox. */
export const send: Page = async (context) => {
  const { store, projectId, query, now, t } = context;
  const form = formIn(query) ?? newForm(now);
  const id = idOf(query.reply);
  if (id === null) return formView({ context, form, draft: draftOf({ channel: query.channel ?? null }) }, {});
  const incoming = await store.getIncoming(projectId, id);
  if (incoming === null) return null;
  const { channel = incoming.channel } = query;
  const { from, subject, text } = incoming;
  const title = subject === null || /^re:/i.test(subject) ? (subject ?? '') : `Re: ${subject}`;
  const cut = [...title].slice(0, maxSubjectLength).join('');
  const draft = draftOf({ channel, to: channel === incoming.channel ? from : '', subject: cut });
  const above = (
    <Panel title={`${t.reply}: ${from || t.none}`}>
      {subject && <p class="subject">{subject}</p>}
      <Excerpt text={text} rest={`${linkTo('/inbox', { open: id })}#i${id}`} look={context} />
    </Panel>
  );
  return formView({ context, form, draft }, { above });
};

/** The fields that the codes of a send are about, where no field was checked before. */
const fields: Partial<Record<string, FieldName>> = {
  unsupported_number: 'to',
  recipient_suppressed: 'to',
  recipient_rate_limited: 'to',
};

/** Shows what would be sent, then sends it; or shows the form again. */
export const sendForm: Form = async (context, given) => {
  const { t, now, administration } = context;
  const known = formIn(context.query);
  // Of no form: it is shown, and sends nothing.
  const act = known === null ? 'edit' : given.get('do');
  const form = known ?? newForm(now);
  const draft = draftOf(Object.fromEntries(given));
  const filled = { context, form, draft };
  const key = keyOf(context, form, draft);
  /** The message or batch; a form for a new one if no operator took it. */
  const outcomeOf = ({ status, body, replayed }: Answer) => {
    const { id = '', total, error } = body as { id?: string; total?: number; error?: ErrorEnvelope['error'] };
    const done = replayed ? 'before' : 'sent';
    if (status < 400) return linkTo(`/${total === undefined ? 'messages' : 'batches'}/${id}`, { done });
    const above = (
      <Notice kind="bad" title={error?.message ?? ''}>
        <a href={linkTo(`/messages/${error?.id}`)}>{t.failedMessage}</a>
      </Notice>
    );
    return formView({ ...filled, form: newForm(now) }, { above, status });
  };
  try {
    const { rateLimit, replay } = await context.takeToken(act === 'send' ? key : null);
    if (replay !== null) return await outcomeOf(await replay());
    if (act === 'edit') return await formView(filled, {});
    const { message: trouble = '', status = 200 } = rateLimit.allowed ? {} : rateLimited(rateLimit);
    // It may have been sent before: nobody has looked.
    if (act === 'send' && trouble) return inDoubt(filled, trouble, given, status);
    const plan = planOf(draft, await administration.settings.get(), now);
    if (!('recipients' in plan)) return await formView(filled, { troubles: plan, status: 400 });
    if (act !== 'send') return await preview(filled, plan, { trouble, status });
    // Nobody pays more than the page said.
    if (!(plan.credits * plan.recipients.length <= Number(given.get('price') || Number.NaN)))
      return await preview(filled, plan, { trouble: t.priceChanged, status: 409 });
    return await outcomeOf(await sendDraft(context, draft, plan, key));
  } catch (error) {
    if (!(error instanceof ServiceError)) context.report(error);
    if (!(error instanceof ServiceError) || error.status >= 500)
      return inDoubt(filled, error instanceof ServiceError ? error.message : t.unavailableTitle, given);
    const { code, message, status } = error;
    return formView(filled, { troubles: [{ field: fields[code] ?? null, message }], status });
  }
};
