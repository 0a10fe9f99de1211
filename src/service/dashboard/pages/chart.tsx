import type { Counted } from '../../storage/store.js';
import { fill } from '../language/language.js';
import type { PageContext } from '../page.js';
import { grouped, hourOfDay } from '../parts/format.js';
import { type Column, Table } from '../parts/parts.js';

/** `sent`: without those whose delivery is unknown. */
type Outcome = 'sent' | 'unknown' | 'queued' | 'failed';
type Hour = { hour: number } & Record<Outcome, number>;

const outcomes = ['sent', 'unknown', 'queued', 'failed'] as const;

/** The 24 hours of a day. */
export function hoursOf({ counts }: Counted): Hour[] {
  const none = { sent: 0, unknown: 0, queued: 0, failed: 0 };
  const hours = Array.from({ length: 24 }, (_, hour): Hour => ({ hour, ...none }));
  for (const { slot, status, count, unknown } of counts) {
    const hour = hours[Math.min(slot, 23)];
    if (hour === undefined) continue;
    hour[status] += count - unknown;
    hour.unknown += unknown;
  }
  return hours;
}

export function sumOf(hours: readonly Hour[]): Record<Outcome, number> {
  const sum = (outcome: Outcome) => hours.reduce((total, hour) => total + hour[outcome], 0);
  return { sent: sum('sent'), unknown: sum('unknown'), queued: sum('queued'), failed: sum('failed') };
}

export const totalOf = (counts: Record<Outcome, number>): number =>
  outcomes.reduce((total, outcome) => total + counts[outcome], 0);

/** A round number: the end of the scale. */
function scaleOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return (
    [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
      .map((factor) => factor * power)
      .find((end) => end >= most && Number.isInteger(end)) ?? most
  );
}

const height = 100;
const step = 10;

/** Sends by hour and outcome. No style is inline, and the labels are text beside the drawing, which is stretched. */
export function DayChart({ hours, look: { t } }: { hours: readonly Hour[]; look: Pick<PageContext, 't'> }) {
  const end = scaleOf(Math.max(...hours.map(totalOf)));
  const sum = sumOf(hours);
  const said = (from: number, to: number, values: Record<Outcome, number>) =>
    fill(t.chartBar, {
      from: hourOfDay(from),
      to: hourOfDay(to),
      ...Object.fromEntries(outcomes.map((each) => [each, grouped(values[each])])),
    });
  return (
    <figure class="chart">
      <ul class="legend" aria-hidden="true">
        {outcomes.map((each) => (
          <li class={each}>
            {t[each]} <b>{grouped(sum[each])}</b>
          </li>
        ))}
      </ul>
      <div class="plot">
        <span class="scale" aria-hidden="true">
          {grouped(end)}
        </span>
        <svg
          viewBox={`0 0 ${24 * step} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={said(0, 24, sum)}
        >
          {hours.map((each) => (
            <g>
              <title>{said(each.hour, each.hour + 1, each)}</title>
              <rect class="slot" x={each.hour * step} y={0} width={step} height={height} />
              {stack(each, end)}
            </g>
          ))}
        </svg>
      </div>
      <p class="hours" aria-hidden="true">
        {[0, 6, 12, 18, 24].map((hour) => (
          <span>{hourOfDay(hour)}</span>
        ))}
      </p>
      <details>
        <summary>{t.asTable}</summary>
        <Table
          caption={t.todayByHour}
          rows={hours.filter((each) => totalOf(each) > 0)}
          columns={[
            { name: t.hour, role: 'main', cell: ({ hour }) => hourOfDay(hour) },
            ...outcomes.map(
              (each): Column<Hour> => ({
                name: t[each],
                isNumber: true,
                cell: (hour) => grouped(hour[each]),
              }),
            ),
          ]}
        />
      </details>
    </figure>
  );
}

/** From the bottom: sent first, failed last. What there is at all is seen. */
function stack(hour: Hour, end: number) {
  let top = height;
  return outcomes.map((each) => {
    if (hour[each] === 0) return null;
    const tall = Math.max(1.5, (hour[each] / end) * height);
    top -= tall;
    return (
      <rect
        class={each}
        x={hour.hour * step + 1.5}
        y={Number(top.toFixed(2))}
        width={step - 3}
        height={Number(tall.toFixed(2))}
      />
    );
  });
}
