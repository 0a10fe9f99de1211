import type { Message } from '../../../contract/index.js';
import { isLow } from '../../operations/verification-limits.js';
import type { LaneTrouble } from '../../storage/instances.js';
import type { Counted, CountedVerifications, Waiting } from '../../storage/store.js';
import { answerLine } from '../../storage/tried.js';
import { fill, type Strings } from '../language/language.js';
import { callerOf, linkTo, listMessages, type Page, type PageContext, quietIn } from '../page.js';
import { duration, grouped, percent, startOfDay } from '../parts/format.js';
import { Figures, Notice, Panel, Table } from '../parts/parts.js';
import { Sign } from '../parts/status.js';
import { DayChart, hoursOf, sumOf, totalOf } from './chart.js';
import { MessageTable, NoMessages } from './message-table.js';

const latest = 8;

export const overview: Page = async (context) => {
  const { store, projectId, operations, t } = context;
  const since = startOfDay(context.now);
  const [held, counted, waiting, verifications, { balance }, messages] = await Promise.all([
    store.held(),
    context.countsSince(since),
    store.countWaiting(projectId),
    store.countVerifications(projectId, since),
    operations.getBalance(callerOf(context)),
    listMessages(context, {}, latest),
  ]);
  const quiet = await quietIn(context);
  const hours = hoursOf(counted);
  const sum = sumOf(hours);
  const total = totalOf(sum);
  return {
    title: t.overview,
    section: 'overview',
    body: (
      <>
        {held !== null && (
          <Notice kind="bad" title={t.heldTitle}>
            {t.heldText} <code>urtuu service release</code>
          </Notice>
        )}
        <Today
          context={context}
          counted={counted}
          waiting={waiting}
          quiet={quiet}
          verifications={verifications}
          balance={balance}
          sum={sum}
        />
        <div class="columns">
          <Panel title={t.todayByHour}>
            {total === 0 ? <p class="empty">{t.nothingToday}</p> : <DayChart hours={hours} look={context} />}
          </Panel>
          <div>
            <Carriers context={context} />
            <Reasons counted={counted} since={since} t={t} />
          </div>
        </div>
        <Latest context={context} messages={messages.data} />
      </>
    ),
  };
};

function Today({
  context: { t },
  counted,
  waiting,
  quiet,
  verifications,
  balance,
  sum,
}: {
  context: PageContext;
  counted: Counted;
  waiting: Waiting;
  quiet: string | null;
  verifications: CountedVerifications;
  balance: number;
  sum: ReturnType<typeof sumOf>;
}) {
  const total = totalOf(sum);
  const { count, oldestMs, isWhole } = waiting;
  return (
    <Figures
      figures={[
        [
          t.sentToday,
          grouped(sum.sent),
          counted.isWhole ? '' : fill(t.onlyNewest, { count: grouped(total) }),
        ],
        ...(sum.unknown === 0 ? [] : [[t.unknownToday, grouped(sum.unknown), t.mayHaveArrived] as const]),
        [
          t.failedToday,
          grouped(sum.failed),
          sum.failed === 0 ? t.noFailures : fill(t.ofAll, { percent: percent(sum.failed, total) }),
          sum.failed > 0,
        ],
        [
          t.waitingNow,
          fill(isWhole ? '{count}' : t.orMore, { count: grouped(count) }),
          quiet ??
            (oldestMs === null ? t.nothingWaits : fill(t.oldestWaits, { time: duration(oldestMs, t) })),
        ],
        ...(verifications.created === 0
          ? []
          : [
              [
                t.verifiedToday,
                grouped(verifications.verified),
                fill(t.ofCreated, { count: grouped(verifications.created) }),
                isLow(verifications),
              ] as const,
            ]),
        [t.credits, grouped(balance), ''],
      ]}
    />
  );
}

function Carriers({ context: { t, channels, connections, projectId } }: { context: PageContext }) {
  const says = { simulated: t.carrierSimulated, real: t.carrierReal, off: t.carrierOff };
  return (
    <Panel title={t.carriers}>
      <dl class="carriers">
        {(['sms', 'email'] as const).map((channel) => (
          <div>
            <dt>{t[channel]}</dt>
            <dd>{says[channels[channel]]}</dd>
          </div>
        ))}
        {connections.map(({ lane, state, forMs, troubles = [] }) => (
          <div>
            <dt>{lane}</dt>
            <dd>
              {state === 'down' ? (
                <Sign tone="bad">{fill(t.down, { time: duration(forMs, t) })}</Sign>
              ) : (
                <Sign tone="good">{t.bound}</Sign>
              )}
            </dd>
            {troubles
              .filter(({ project }) => project === null || project === projectId)
              .map((trouble) => (
                <dd>
                  <Sign tone="doubt">{saidOf(trouble, t)}</Sign>
                </dd>
              ))}
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function saidOf({ project, state, forMs, ...answer }: LaneTrouble, t: Strings): string {
  const said = fill(t[state], { time: duration(forMs, t), answer: answerLine(answer) });
  return project === null ? said : `${t.ofThisProject}: ${said}`;
}

function Reasons({ counted, since, t }: { counted: Counted; since: number; t: Strings }) {
  const reasons = new Map<string, number>();
  for (const { errorCode, count } of counted.counts) {
    if (errorCode !== null) reasons.set(errorCode, (reasons.get(errorCode) ?? 0) + count);
  }
  if (reasons.size === 0) return null;
  const link = linkTo('/messages', { status: 'failed', since: new Date(since).toISOString() });
  return (
    <Panel title={t.failureReasons} aside={<a href={link}>{t.seeAll}</a>}>
      <Table
        caption={t.failureReasons}
        rows={[...reasons].sort(([, one], [, other]) => other - one)}
        columns={[
          { name: t.reason, role: 'main', cell: ([code]) => <code>{code}</code> },
          { name: t.count, isNumber: true, cell: ([, count]) => grouped(count) },
        ]}
      />
    </Panel>
  );
}

function Latest({ context, messages }: { context: PageContext; messages: Message[] }) {
  const { t } = context;
  return (
    <Panel title={t.latest} aside={messages.length > 0 && <a href={linkTo('/messages')}>{t.seeAll}</a>}>
      {messages.length === 0 ? (
        <NoMessages context={context} />
      ) : (
        <MessageTable messages={messages} context={context} />
      )}
    </Panel>
  );
}
