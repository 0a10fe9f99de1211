import type { LedgerRecord } from '../../storage/store.js';
import { fill } from '../language/language.js';
import { callerOf, linkTo, type Page, type PageContext, rowsPerPage } from '../page.js';
import { grouped, signed } from '../parts/format.js';
import { Facts, Figures, Pages, Panel, shortId, Table, Time } from '../parts/parts.js';

export const balance: Page = async (context) => {
  const { operations, store, projectId, query, t } = context;
  const before = /^[1-9]\d{0,15}$/.test(query.before ?? '') ? Number(query.before) : null;
  const [left, { sms, email }, ledger] = await Promise.all([
    operations.getBalance(callerOf(context)),
    operations.getPricing(callerOf(context)),
    store.listLedgerPage(projectId, { limit: rowsPerPage, before }),
  ]);
  const multiplier =
    sms.rate_multiplier === 1 ? '' : ` (${fill(t.today, { multiplier: sms.rate_multiplier })})`;
  return {
    title: t.balance,
    section: 'balance',
    body: (
      <>
        <div class="columns">
          <Figures figures={[[t.balanceNow, grouped(left.balance)]]} />
          <Panel title={t.prices} aside={<a href={linkTo('/settings/prices')}>{t.settings}</a>}>
            <Facts
              facts={[
                [t.smsPrice, grouped(sms.credits_per_part) + multiplier],
                [t.email, grouped(email.credits_per_message)],
              ]}
            />
          </Panel>
        </div>
        <Panel title={t.ledger}>
          <Ledger records={ledger.records} context={context} />
        </Panel>
        <Pages path="/balance" by="before" shown={before} next={ledger.next} look={context} />
      </>
    ),
  };
};

function Ledger({ records, context }: { records: readonly LedgerRecord[]; context: PageContext }) {
  const { t } = context;
  const nameOf = ({ reason, amount }: LedgerRecord) =>
    reason === 'credit' && amount < 0 ? t.debit : t[reason];
  return (
    <Table
      caption={t.ledger}
      rows={records}
      columns={[
        { name: t.reason, role: 'main', cell: nameOf },
        { name: t.about, role: 'plain', cell: subjectOf },
        { name: t.amount, role: 'plain', isNumber: true, cell: ({ amount }) => signed(amount) },
        {
          name: t.time,
          role: 'when',
          isNumber: true,
          cell: ({ createdAt }) => <Time at={createdAt} look={context} />,
        },
      ]}
    />
  );
}

function subjectOf({ reason, subjectId, note }: LedgerRecord) {
  if (subjectId === null || reason === 'credit') return note;
  if (reason === 'verification') return shortId(subjectId);
  return (
    <a href={linkTo(`/${reason === 'batch' ? 'batches' : 'messages'}/${subjectId}`)} title={subjectId}>
      {shortId(subjectId)}
    </a>
  );
}
