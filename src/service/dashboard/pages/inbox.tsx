import type { ReceivedMessage } from '../../inbox/mail-administration.js';
import { tryAnyRecipient } from '../../operations/fields.js';
import { idOf, linkTo, type Page, type PageContext } from '../page.js';
import { Empty, Excerpt, Pages, Time } from '../parts/parts.js';

const messagesPerPage = 25;

export const inbox: Page = async (context) => {
  const { t, administration, query } = context;
  const after = idOf(query.after);
  const { data, next } = await administration.inbox({ limit: messagesPerPage, ...(after && { after }) });
  return {
    title: t.inbox,
    section: 'inbox',
    body: (
      <>
        <p class="hint">{t.inboxNote}</p>
        {data.length === 0 ? (
          <Empty>{t.inboxEmpty}</Empty>
        ) : (
          <ol class="outbox">
            {data.map((each) => (
              <Received message={each} context={context} />
            ))}
          </ol>
        )}
        <Pages path="/inbox" shown={after} next={next} look={context} />
      </>
    ),
  };
};

function Received({ message, context }: { message: ReceivedMessage; context: PageContext }) {
  const { t, isReadOnly } = context;
  const { id, channel, from, to, subject, text, received_at } = message;
  const { after, open } = context.query;
  return (
    <li id={`i${id}`}>
      <header>
        <b>{from || t.none}</b>
        <span>
          {t[channel]} · {t.to} {to}
        </span>
        <Time at={received_at} look={context} />
      </header>
      {subject !== null && <p class="subject">{subject}</p>}
      <Excerpt
        text={text}
        rest={open === id ? null : `${linkTo('/inbox', { after, open: id })}#i${id}`}
        look={context}
      />
      {!isReadOnly && tryAnyRecipient(from) !== null && (
        <p>
          <a href={linkTo('/send', { reply: id })} aria-label={`${t.reply}: ${from}`}>
            {t.reply}
          </a>
        </p>
      )}
    </li>
  );
}
