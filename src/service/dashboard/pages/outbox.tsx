import type { DeliveryRecord } from '../../carriers/simulated/outbox.js';
import { idOf, linkTo, listMessages, type Page, type PageContext } from '../page.js';
import { Empty, Excerpt, Pages, Time } from '../parts/parts.js';
import { EmailFrame } from './message.js';

const deliveriesPerPage = 25;

/** The deliveries of the project's own messages: the simulated operator knows no projects. */
export const outbox: Page = async (context) => {
  const { t, query } = context;
  const after = idOf(query.after);
  const { data, next } = await listMessages(context, { status: 'sent' }, deliveriesPerPage, after);
  const delivered = new Map(
    (await context.deliveries(data.map(({ id }) => id))).map((each) => [each.messageId, each]),
  );
  const shown = data.flatMap(({ id }) => delivered.get(id) ?? []);
  return {
    title: t.outbox,
    section: 'outbox',
    body: (
      <>
        <p class="hint">{t.outboxNote}</p>
        {shown.length === 0 && next === null ? (
          <Empty>{t.outboxEmpty}</Empty>
        ) : (
          <ol class="outbox">
            {shown.map((each) => (
              <Delivered delivery={each} context={context} />
            ))}
          </ol>
        )}
        <Pages path="/outbox" shown={after} next={next} look={context} />
      </>
    ),
  };
};

function Delivered({ delivery, context }: { delivery: DeliveryRecord; context: PageContext }) {
  const { t } = context;
  const { messageId, channel, to, text, html, subject, from, route, deliveredAt } = delivery;
  return (
    <li id={`o${messageId}`}>
      <header>
        <a href={linkTo(`/messages/${messageId}`)}>{to}</a>
        <span>
          {t[channel]} · {route}
        </span>
        <Time at={deliveredAt} look={context} />
      </header>
      {subject !== null && <p class="subject">{subject}</p>}
      {from !== null && (
        <p class="hint">
          {t.from} {from}
        </p>
      )}
      {text !== null && <Excerpt text={text} rest={linkTo(`/messages/${messageId}`)} look={context} />}
      {html !== null && (
        <details id={`d${messageId}`}>
          <summary>{t.showEmail}</summary>
          <EmailFrame id={messageId} t={t} />
        </details>
      )}
    </li>
  );
}
