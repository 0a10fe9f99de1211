import type { InboxMessage } from '../../inbox/mail-administration.js';
import { linkTo, type Page, type PageContext } from '../page.js';
import { Empty, Pages, Time } from '../parts/parts.js';

const messagesPerPage = 25;
/** Characters that are shown at once. */
const excerpt = 1_000;

export const inbox: Page = async (context) => {
  const { t, administration, query } = context;
  const { after } = query;
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
        <Pages
          newest={after === undefined ? null : linkTo('/inbox')}
          older={next && linkTo('/inbox', { after: next })}
          look={context}
        />
      </>
    ),
  };
};

function Received({ message, context }: { message: InboxMessage; context: PageContext }) {
  const { t } = context;
  const { id, channel, from, to, subject, text, received_at } = message;
  const rest = text.slice(excerpt);
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
      <p class="text" dir="auto">
        {text.slice(0, excerpt)}
      </p>
      {rest !== '' && (
        <details id={`r${id}`}>
          <summary>{t.more}</summary>
          <p class="text" dir="auto">
            {rest}
          </p>
        </details>
      )}
    </li>
  );
}
