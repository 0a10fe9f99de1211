import type { Child } from 'hono/jsx';
import type { MessageFilter } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { idOf, linkTo, listMessages, orRefusal, type Page, type PageContext, rowsPerPage } from '../page.js';
import { Empty, Notice, Pages, shortId } from '../parts/parts.js';
import { MessageTable, NoMessages } from './message-table.js';

const channels = ['sms', 'email'] as const;
const statuses = ['queued', 'sent', 'failed'] as const;
const deliveries = ['delivered', 'undelivered', 'bounced', 'unknown'] as const;

const oneOf = <Value extends string>(
  values: readonly Value[],
  given: string | undefined,
): Value | undefined => values.find((value) => value === given);

/** The filter in a URL, without unknown parameters. */
function filterOf({ to, channel, status, delivery, batch_id, since }: PageContext['query']): MessageFilter {
  const given = {
    to: to?.trim() || undefined,
    channel: oneOf(channels, channel),
    status: oneOf(statuses, status),
    delivery: oneOf(deliveries, delivery),
    batch_id: idOf(batch_id) ?? undefined,
    since: Number.isNaN(Date.parse(since ?? '')) ? undefined : since,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export const messages: Page = async (context) => {
  const { t, query } = context;
  const filter = filterOf(query);
  const after = idOf(query.after);
  const page = await orRefusal(listMessages(context, filter, rowsPerPage, after), 'invalid_request');
  return {
    title: t.messages,
    section: 'messages',
    status: page instanceof ServiceError ? 400 : 200,
    body: (
      <>
        <Filter context={context} filter={filter} />
        {page instanceof ServiceError ? (
          <Notice kind="bad" title={page.message} />
        ) : (
          <>
            <Found context={context} filter={filter} page={page} after={after} />
            <Pages path="/messages" query={{ ...filter }} shown={after} next={page.next} look={context} />
          </>
        )}
      </>
    ),
  };
};

function Found({
  context,
  filter,
  page: { data, next },
  after,
}: {
  context: PageContext;
  filter: MessageFilter;
  page: Awaited<ReturnType<typeof listMessages>>;
  after: string | null;
}) {
  const { t } = context;
  if (data.length > 0) {
    return (
      <section class="panel">
        <MessageTable messages={data} context={context} />
      </section>
    );
  }
  if (next !== null) return <Empty>{t.noMatchesHere}</Empty>;
  const isAll = Object.keys(filter).length === 0 && after === null;
  return isAll ? <NoMessages context={context} /> : <Empty>{t.noMatches}</Empty>;
}

function Filter({ context: { t }, filter }: { context: PageContext; filter: MessageFilter }) {
  const { to = '', channel, status, delivery, batch_id: batch, since } = filter;
  return (
    <search>
      <form class="filter" method="get" action={linkTo('/messages')}>
        <input
          type="search"
          name="to"
          value={to}
          placeholder={t.recipient}
          aria-label={t.recipient}
          autocomplete="off"
        />
        {(
          [
            ['channel', t.anyChannel, channels, channel],
            ['status', t.anyStatus, statuses, status],
            ['delivery', t.anyDelivery, deliveries, delivery],
          ] as const
        ).map(([name, any, values, chosen]) => (
          <select name={name} aria-label={t[name]}>
            <option value="">{any}</option>
            {values.map((value) => (
              <option value={value} selected={value === chosen}>
                {t[value]}
              </option>
            ))}
          </select>
        ))}
        {batch !== undefined && <Kept name="batch_id" value={batch} shown={`${t.batch} ${shortId(batch)}`} />}
        {since !== undefined && <Kept name="since" value={since} shown={`≥ ${since.slice(0, 16)}Z`} />}
        <button type="submit">{t.filter}</button>
        {Object.keys(filter).length > 0 && <a href={linkTo('/messages')}>{t.clear}</a>}
      </form>
    </search>
  );
}

/** A filter that came with a link. */
const Kept = ({ name, value, shown }: { name: string; value: string; shown: string }): Child => (
  <label class="kept">
    <input type="checkbox" name={name} value={value} checked />
    {shown}
  </label>
);
