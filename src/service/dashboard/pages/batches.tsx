import type { Batch } from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import { fill, type Strings } from '../language/language.js';
import { callerOf, idOf, linkTo, listMessages, orRefusal, type Page, quietIn, rowsPerPage } from '../page.js';
import { grouped } from '../parts/format.js';
import { Done, Empty, Facts, Figures, Pages, Panel, shortId, Table, Time } from '../parts/parts.js';
import { Status } from '../parts/status.js';
import { isSentHere } from '../send/key.js';
import { MessageTable } from './message-table.js';

export const batches: Page = async (context) => {
  const { operations, query, t } = context;
  const after = idOf(query.after);
  const { data, next } = await operations.listBatches(callerOf(context), {}, { limit: rowsPerPage, after });
  return {
    title: t.batches,
    section: 'batches',
    body: (
      <>
        {data.length === 0 ? (
          <Empty>
            {t.noBatches} <code>urtuu sms bulk customers.csv --text Hi</code>
          </Empty>
        ) : (
          <section class="panel">
            <Table
              caption={t.batches}
              rows={data}
              rowId={({ id }) => `b${id}`}
              columns={[
                {
                  name: t.created,
                  role: 'main',
                  cell: ({ id, created_at }) => (
                    <a href={linkTo(`/batches/${id}`)}>
                      <Time at={created_at} look={context} />
                    </a>
                  ),
                },
                { name: t.status, role: 'plain', cell: ({ status }) => <Status state={status} t={t} /> },
                { name: t.channel, role: 'plain', cell: ({ channel }) => t[channel] },
                { name: t.progress, role: 'plain', cell: (batch) => <Progress batch={batch} t={t} /> },
                { name: t.unknown, isNumber: true, cell: ({ unknown = 0 }) => grouped(unknown) },
                { name: t.failed, isNumber: true, cell: ({ failed }) => grouped(failed) },
                { name: t.total, isNumber: true, cell: ({ total }) => grouped(total) },
                { name: t.credits, isNumber: true, cell: ({ credits }) => grouped(credits) },
                {
                  name: 'ID',
                  role: 'plain',
                  isNumber: true,
                  cell: ({ id }) => <code title={id}>{shortId(id)}</code>,
                },
              ]}
            />
          </section>
        )}
        <Pages path="/batches" shown={after} next={next} look={context} />
      </>
    ),
  };
};

function Progress({ batch: { sent, failed, total }, t }: { batch: Batch; t: Strings }) {
  const done = sent + failed;
  const text = fill(t.progressText, { done: grouped(done), total: grouped(total) });
  return (
    <progress value={done} max={total} aria-label={text} title={text}>
      {text}
    </progress>
  );
}

export const batch: Page = async (context) => {
  const { operations, id, query, t } = context;
  const one = await orRefusal(operations.getBatch(callerOf(context), id), 'not_found');
  if (one instanceof ServiceError) return null;
  const isOwn = await isSentHere(context, one);
  const quiet = one.status === 'processing' ? await quietIn(context) : null;
  const after = idOf(query.after);
  const { data, next } = await listMessages(context, { batch_id: id }, rowsPerPage, after);
  const { total, sent, unknown = 0, failed, status } = one;
  return {
    title: `${t.batch} ${shortId(id)}`,
    section: 'batches',
    body: (
      <>
        {isOwn && <Done context={context} />}
        <p class="state">
          <Status state={status} t={t} />{' '}
          <span>{fill(t.progressText, { done: grouped(sent + failed), total: grouped(total) })}</span>
        </p>
        <div class="whole">
          <Progress batch={one} t={t} />
        </div>
        <Figures
          figures={[
            [t.sent, grouped(sent - unknown)],
            [t.unknown, grouped(unknown), unknown > 0 ? t.mayHaveArrived : null],
            [t.failed, grouped(failed), null, failed > 0],
            [t.left, grouped(total - sent - failed), quiet],
            [t.creditsCharged, grouped(one.credits)],
          ]}
        />
        <Panel
          title={t.batchMessages}
          aside={
            <span>
              {unknown > 0 && (
                <a href={linkTo('/messages', { batch_id: id, delivery: 'unknown' })}>{t.onlyUnknown}</a>
              )}
              {failed > 0 && (
                <a href={linkTo('/messages', { batch_id: id, status: 'failed' })}>{t.onlyFailed}</a>
              )}
              <a href={linkTo(`/batches/${id}/report.csv`)} download>
                {t.downloadCsv}
              </a>
            </span>
          }
        >
          <MessageTable messages={data} context={context} />
        </Panel>
        <Pages path={`/batches/${id}`} shown={after} next={next} look={context} />
        <Panel title={t.batch}>
          <Facts
            facts={[
              ['ID', <code>{id}</code>],
              [t.channel, t[one.channel]],
              [t.sentFrom, isOwn && t.theDashboard],
              [t.created, <Time at={one.created_at} look={context} />],
              [t.completed, one.completed_at && <Time at={one.completed_at} look={context} />],
              [t.prunedAt, one.pruned_at && <Time at={one.pruned_at} look={context} />],
            ]}
          />
        </Panel>
      </>
    ),
  };
};
