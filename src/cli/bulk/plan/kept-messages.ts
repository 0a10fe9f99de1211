import { type Channel, measureText } from '../../../contract/index.js';
import { reportColumn } from '../input/report-columns.js';
import type { Composer } from './composer.js';
import { visitRecipients } from './files/body-recipients.js';
import { bodyReader } from './files/plan-reader.js';
import type { FrozenPlan } from './plan.js';

/** Composes each row of a report as the job that it is from did: the same bytes, whatever its template was. */
export async function keptMessages(
  plan: FrozenPlan,
  /** By line, for the rows that are composed. */
  requests: ReadonlyMap<number, number>,
): Promise<(columns: readonly string[]) => Composer> {
  const bodyOf = await bodyReader(plan);
  const { channel } = plan.meta;
  const composed = (request: number) => {
    const tail = tailOf(bodyOf(request));
    return { request, message: { tail, ...sizeOf(channel, tail) } };
  };
  return (columns) => {
    const line = reportColumn(columns, 'line');
    let last: ReturnType<typeof composed> | undefined;
    return {
      columns: [line],
      compose(values) {
        const request = requests.get(Number(values[line]));
        if (request === undefined) return [{ column: 'line', error: 'is not in the job' }];
        // A batch has the same message for a thousand rows.
        if (last?.request !== request) last = composed(request);
        return last.message;
      },
    };
  };
}

function tailOf(body: string): string {
  let start = 0;
  visitRecipients(body, (_text, _from, _end, at) => {
    start = at;
  });
  return body.slice(start);
}

function sizeOf(channel: Channel, tail: string): { kind: 'latin' | 'cyrillic' | 'email'; parts: number } {
  if (channel === 'email') return { kind: 'email', parts: 0 };
  const { text } = JSON.parse(`{${tail}`) as { text: string };
  const { kind, parts } = measureText(text);
  return { kind, parts };
}
