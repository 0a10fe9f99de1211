import type { Message } from '../../../contract/index.js';
import { linkTo, type PageContext } from '../page.js';
import { grouped } from '../parts/format.js';
import { Empty, Table, Time } from '../parts/parts.js';
import { Status, stateOf } from '../parts/status.js';

export function MessageTable({ messages, context }: { messages: readonly Message[]; context: PageContext }) {
  const { t } = context;
  return (
    <Table
      caption={t.messages}
      rows={messages}
      rowId={({ id }) => `m${id}`}
      columns={[
        {
          name: t.to,
          role: 'main',
          cell: ({ id, to }) => <a href={linkTo(`/messages/${id}`)}>{to || t.none}</a>,
        },
        { name: t.status, role: 'plain', cell: (message) => <Status state={stateOf(message)} t={t} /> },
        { name: t.error, role: 'plain', cell: ({ error }) => error !== null && <code>{error.code}</code> },
        { name: t.channel, role: 'plain', cell: ({ channel }) => t[channel] },
        { name: t.credits, isNumber: true, cell: ({ credits }) => grouped(credits) },
        {
          name: t.time,
          role: 'when',
          isNumber: true,
          cell: ({ created_at }) => <Time at={created_at} look={context} />,
        },
      ]}
    />
  );
}

export const NoMessages = ({ context: { t, baseUrl } }: { context: PageContext }) => (
  <Empty>
    {t.noMessages} {t.firstMessage} <code>urtuu login --base-url {baseUrl}</code>{' '}
    <code>urtuu sms send 99112233 Hi</code>
  </Empty>
);
