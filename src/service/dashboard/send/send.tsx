import type { ErrorEnvelope } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { rateLimited } from '../../operations/admission.js';
import { emailContent } from '../../operations/email.js';
import type { Answer } from '../../operations/operations.js';
import { callerOf, type Form, idOf, linkTo, type Page, type PageContext, type View } from '../page.js';
import { Excerpt, Notice, Panel } from '../parts/parts.js';
import { type Draft, draftOf, type FieldName, type Plan, planOf, sendDraft, type Trouble } from './draft.js';
import { formView } from './form.js';
import { formIn, keyOf, newForm } from './key.js';
import { inDoubt, preview } from './preview.js';

/** An empty form, or a reply to a message in the inbox. */
export const send: Page = async (context) => {
  const { store, projectId, query, now, t } = context;
  const form = formIn(query) ?? newForm(now);
  const pricing = await context.operations.getPricing(callerOf(context));
  const id = idOf(query.reply);
  if (id === null)
    return formView(
      context,
      form,
      draftOf((name) => (name === 'channel' ? (query.channel ?? '') : '')),
      pricing,
      {},
    );
  const incoming = await store.getIncoming(projectId, id);
  if (incoming === null) return null;
  const { from, subject, text } = incoming;
  const channel = query.channel ?? incoming.channel;
  const isSame = channel === incoming.channel;
  const given = { channel, to: isSame ? from : '', subject: replyTo(subject ?? ''), text: '' };
  const above = (
    <Panel title={`${t.reply}: ${from || t.none}`}>
      {subject !== null && <p class="subject">{subject}</p>}
      <Excerpt text={text} rest={`${linkTo('/inbox', { open: id })}#i${id}`} look={context} />
    </Panel>
  );
  return formView(
    context,
    form,
    draftOf((name) => given[name]),
    pricing,
    { above },
  );
};

const replyTo = (subject: string) => (subject === '' || /^re:/i.test(subject) ? subject : `Re: ${subject}`);

/** The fields that the codes of a send are about, where no field was checked before. */
const fields: Partial<Record<string, FieldName>> = {
  unsupported_number: 'to',
  recipient_suppressed: 'to',
  recipient_rate_limited: 'to',
  message_too_long: 'text',
};

/** Shows what would be sent, then sends it; or shows the form again. */
export const sendForm: Form = async (context, given) => {
  const { t, now, administration, operations } = context;
  const draft = draftOf((name) => given.get(name) ?? '');
  const form = formIn(context.query);
  // Of no form: it is shown, and sends nothing.
  const act = form === null ? 'edit' : given.get('do');
  const here = form ?? newForm(now);
  try {
    const { rateLimit, replay } = await context.takeToken(
      act === 'send' ? keyOf(context, here, draft) : null,
    );
    if (replay !== null) return await outcomeOf(context, draft, await replay());
    const over = rateLimit.allowed ? undefined : rateLimited(rateLimit);
    const plan = planOf(draft, await administration.settings.get(), now);
    const shown = (troubles: readonly Trouble[], status = 400) =>
      operations
        .getPricing(callerOf(context))
        .then((pricing) => formView(context, here, draft, pricing, { troubles, status }));
    if (act === 'edit') return await shown([], 200);
    if (!('recipients' in plan)) return await shown(plan);
    if (over !== undefined) return await previewOf(context, here, draft, plan, over.message, over.status);
    if (act !== 'send') return await previewOf(context, here, draft, plan);
    // Nobody pays more than the page said.
    if (!(plan.credits * plan.recipients.length <= Number(given.get('price') || Number.NaN)))
      return await previewOf(context, here, draft, plan, t.priceChanged, 409);
    return await outcomeOf(
      context,
      draft,
      await sendDraft(context, draft, plan, keyOf(context, here, draft)),
    );
  } catch (error) {
    const isExpected = error instanceof ServiceError;
    if (!isExpected) context.report(error);
    if (!isExpected || error.status >= 500)
      return inDoubt(context, here, draft, isExpected ? error.message : t.unavailableTitle, given);
    const pricing = await operations.getPricing(callerOf(context));
    const trouble = { field: fields[error.code] ?? null, message: error.message };
    return formView(context, here, draft, pricing, { troubles: [trouble], status: error.status });
  }
};

async function previewOf(
  context: PageContext,
  form: string,
  draft: Draft,
  plan: Plan,
  trouble?: string,
  status?: number,
): Promise<View> {
  const { operations, administration, store, projectId } = context;
  const { balance } = await operations.getBalance(callerOf(context));
  const to = plan.recipients.map((each) => each.to);
  const isBatch = to.length > 1;
  const { data } = isBatch ? await operations.checkSuppressions(callerOf(context), { to }) : { data: [] };
  const { name = '' } = (await store.getProject(projectId)) ?? {};
  const project = { id: projectId, name, settings: await administration.settings.get() };
  const from = draft.channel === 'email' ? emailContent(project, draft).from : null;
  return preview(context, form, draft, plan, {
    ...{ balance, suppressed: data.length, from, trouble },
    ...(status !== undefined && { status }),
  });
}

/** The message or batch; a form for a new one if no operator took it. */
async function outcomeOf(context: PageContext, draft: Draft, { status, body, replayed }: Answer) {
  const done = replayed ? 'before' : 'sent';
  const { id = '', error, total } = body as { id?: string; total?: number; error?: ErrorEnvelope['error'] };
  if (status < 400) return linkTo(`/${total === undefined ? 'messages' : 'batches'}/${id}`, { done });
  const pricing = await context.operations.getPricing(callerOf(context));
  const above = (
    <Notice kind="bad" title={error?.message ?? ''}>
      <a href={linkTo(`/messages/${error?.id}`)}>{context.t.failedMessage}</a>
    </Notice>
  );
  return formView(context, newForm(context.now), draft, pricing, { above, status });
}
