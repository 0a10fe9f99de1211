import type { Child } from 'hono/jsx';
import { type Message, measureText } from '../../../contract/index.js';
import { withoutLinks } from '../../../contract/links.js';
import { noLinkRoute } from '../../carriers/carrier.js';
import type { DeliveryRecord } from '../../carriers/simulated/outbox.js';
import { ServiceError } from '../../errors/service-error.js';
import type { MessageHistory } from '../../storage/store.js';
import { answerLine } from '../../storage/tried.js';
import { fill, type Strings } from '../language/language.js';
import { callerOf, linkTo, orRefusal, type Page, type PageContext } from '../page.js';
import { grouped, signed } from '../parts/format.js';
import { Done, Facts, Panel, partsLine, shortId, Table, Time } from '../parts/parts.js';
import { Status, stateOf } from '../parts/status.js';
import { isSentHere } from '../send/key.js';

/** The content of a message, as far as it is known. */
export interface Said {
  text: string | null;
  html: string | null;
  subject: string | null;
  from: string | null;
  replyTo: string | null;
}

/** As the simulated operator delivered it, else as it is stored, without the links that its route does not carry. */
function saidIn(history: MessageHistory, delivered: DeliveryRecord | undefined): Said | null {
  if (delivered !== undefined) return delivered;
  const { content, route } = history;
  if (content === null || content.text === null || route !== noLinkRoute) return content;
  return { ...content, text: withoutLinks(content.text) ?? content.text };
}

/** Null when there is no such message. */
async function found(context: PageContext) {
  const { store, projectId, operations, id } = context;
  const message = await orRefusal(operations.getMessage(callerOf(context), id), 'not_found');
  if (message instanceof ServiceError) return null;
  const history = await store.getHistory(projectId, id);
  if (history === null) return null;
  const [delivered] = await context.deliveries([id]);
  const ofSend = message.batch_id === null ? message : { ...message, id: message.batch_id };
  return { message, history, said: saidIn(history, delivered), isOwn: await isSentHere(context, ofSend) };
}

export const message: Page = async (context) => {
  const { t } = context;
  const all = await found(context);
  if (all === null) return null;
  const { message: one, history, said, isOwn } = all;
  const state = stateOf(one);
  return {
    title: one.to || t.message,
    section: 'messages',
    body: (
      <>
        {isOwn && <Done context={context} />}
        <p class="state">
          <Status state={state} t={t} /> <span>{t[`${state}Means`]}</span>
        </p>
        {one.error !== null && (
          <p class="notice bad">
            <code>{one.error.code}</code> {one.error.message}
          </p>
        )}
        <div class="columns">
          <div>
            <Panel title={one.channel === 'sms' ? t.text : t.email}>
              <Text said={said} history={history} id={one.id} t={t} />
            </Panel>
            <History message={one} history={history} context={context} />
          </div>
          <Panel title={t.message}>
            <Details message={one} history={history} said={said} isOwn={isOwn} context={context} />
          </Panel>
        </div>
      </>
    ),
  };
};

function Text({
  said,
  history,
  id,
  t,
}: {
  said: Said | null;
  history: MessageHistory;
  id: string;
  t: Strings;
}) {
  if (said === null || (said.text === null && said.html === null)) {
    return <p class="empty">{history.content === null ? t.textGone : t.textNotKept}</p>;
  }
  const { text, html, subject } = said;
  return (
    <>
      {subject !== null && <p class="subject">{subject}</p>}
      {html !== null && <EmailFrame id={id} t={t} />}
      {html !== null && text !== null && <h3>{t.plainText}</h3>}
      {text !== null && (
        <p class="text" dir="auto">
          {text}
        </p>
      )}
      {text !== null && text !== history.content?.text && history.content?.text != null && (
        <p class="hint">{t.asDelivered}</p>
      )}
    </>
  );
}

/** Somebody else's HTML: a document of its own, without an origin, scripts, forms or a way to the network. */
export function EmailFrame({ id, t }: { id: string; t: Strings }) {
  return (
    <>
      <iframe src={linkTo(`/messages/${id}/html`)} sandbox="" loading="lazy" title={t.htmlFrame}></iframe>
      <p class="hint">{t.htmlNote}</p>
    </>
  );
}

function Details({
  message: one,
  history,
  said,
  isOwn,
  context,
}: {
  message: Message;
  history: MessageHistory;
  said: Said | null;
  isOwn: boolean;
  context: PageContext;
}) {
  const { t } = context;
  return (
    <Facts
      facts={[
        ['ID', <code>{one.id}</code>],
        [t.channel, t[one.channel]],
        [t.batch, one.batch_id && <a href={linkTo(`/batches/${one.batch_id}`)}>{shortId(one.batch_id)}</a>],
        [t.sentFrom, isOwn && t.theDashboard],
        [t.from, said?.from ?? null],
        [t.replyTo, said?.replyTo ?? null],
        [t.parts, partsOf(one, said, t)],
        [
          t.multiplier,
          one.channel === 'sms' && one.rate_multiplier !== 1 ? `× ${one.rate_multiplier}` : null,
        ],
        [t.route, history.route || null],
        [t.attempts, history.attempts || null],
        [t.carrierCode, one.carrier_code ?? null],
        [t.credits, grouped(one.credits)],
      ]}
    />
  );
}

function partsOf(one: Message, said: Said | null, t: Strings): Child | null {
  if (one.channel !== 'sms') return null;
  if (said?.text == null) return one.parts;
  return partsLine({ ...measureText(said.text), parts: one.parts }, t);
}

interface Event {
  at: number;
  what: Child;
  amount?: number;
}

/** The answers to attempts that were not taken. */
function triesIn({ tried }: MessageHistory, t: Strings): Event[] {
  const says = {
    refused: t.triedRefused,
    account: t.triedAccount,
    rate: t.triedRate,
    message: t.triedMessage,
    lost: t.triedLost,
  };
  return tried.map(({ kind, route, until, times, ...answer }) => ({
    at: until,
    what: [
      fill(says[kind], { route, answer: answerLine(answer) }),
      ...(times > 1 ? [fill(t.triedTimes, { count: grouped(times) })] : []),
    ].join(' · '),
  }));
}

/** Its events, with its ledger lines. */
function History({
  message: one,
  history,
  context,
}: {
  message: Message;
  history: MessageHistory;
  context: PageContext;
}) {
  const { t } = context;
  const { receipts, refund, route } = history;
  const status = (state: Parameters<typeof Status>[0]['state'], more = '') => (
    <>
      <Status state={state} t={t} /> {more}
    </>
  );
  const events: Event[] = [
    {
      at: Date.parse(one.created_at),
      what: one.batch_id === null ? t.accepted : `${t.accepted} · ${t.chargedWithBatch}`,
      ...(one.batch_id === null ? { amount: -(refund?.amount ?? one.credits) } : {}),
    },
    ...triesIn(history, t),
  ];
  if (one.sent_at !== null)
    events.push({
      at: Date.parse(one.sent_at),
      what: status('sent', fill(t.sentOver, { route: route ?? '' })),
    });
  for (const { carrierId, state, code, receivedAt } of receipts)
    events.push({
      at: receivedAt,
      what: status(
        state,
        [fill(t.receiptOf, { id: carrierId.length > 16 ? shortId(carrierId) : carrierId }), code]
          .filter(Boolean)
          .join(' · '),
      ),
    });
  if (refund !== null)
    events.push({ at: refund.createdAt, what: status('failed', t.refunded), amount: refund.amount });
  return (
    <Panel title={t.history}>
      <Table
        caption={t.history}
        rows={events}
        columns={[
          { name: t.event, role: 'main', cell: ({ what }) => what },
          {
            name: t.credits,
            role: 'plain',
            isNumber: true,
            cell: ({ amount }) => amount !== undefined && signed(amount),
          },
          { name: t.time, role: 'when', isNumber: true, cell: ({ at }) => <Time at={at} look={context} /> },
        ]}
      />
    </Panel>
  );
}

/** The HTML of an email, for the frame; null where there is none. */
export async function messageHtml(context: PageContext): Promise<string | null> {
  return (await found(context))?.said?.html ?? null;
}
