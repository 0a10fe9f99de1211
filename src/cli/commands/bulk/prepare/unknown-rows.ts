import { reportColumn } from '../../../bulk/input/report-columns.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { CliError } from '../../../errors.js';
import { exits, isOfKey } from '../../../exit-codes.js';
import { BatchMessages } from '../../../reader/batch-messages.js';
import { Reader } from '../../../reader/reader.js';
import { counted } from '../../../text/wording.js';
import { openJobRuntime } from '../job-runtime.js';

type PlanContext = Pick<Context, 'options' | 'io' | 'config' | 'network' | 'clock' | 'signal'>;

/** For `--only unknown`: the messages whose delivery is now known. Throws CliError (exit 14) if one cannot be read. */
export async function newlyKnown(
  context: PlanContext,
  plan: FrozenPlan,
  timeout: number,
): Promise<ReadonlySet<string>> {
  const ids = await unknownIds(plan);
  return context.io.withProgress('Reading the unknown messages', () => readKnown(context, ids, timeout));
}

/** The messages of rows that are planned because they are unknown, by batch; '' for single ones. */
async function unknownIds(plan: FrozenPlan): Promise<Map<string, Set<string>>> {
  const { columns } = plan.meta;
  const at = (name: string) => reportColumn(columns, name);
  const status = at('status');
  const delivery = at('delivery');
  const message = at('message_id');
  const batch = at('batch_id');
  const ids = new Map<string, Set<string>>();
  for await (const { values, place } of plan.rows()) {
    const cell = (index: number) => (values[index] ?? '').trim();
    const isUnknown = cell(status).toLowerCase() === 'sent' && cell(delivery).toLowerCase() === 'unknown';
    if (place === null || !isUnknown) continue;
    const ofBatch = ids.get(cell(batch)) ?? new Set();
    ids.set(cell(batch), ofBatch);
    ofBatch.add(cell(message));
  }
  return ids;
}

/** Those whose delivery is now known. */
async function readKnown(
  context: PlanContext,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
  timeout: number,
): Promise<Set<string>> {
  const runtime = await openJobRuntime(context, {});
  try {
    const { client } = runtime;
    const reader = new Reader({ ...runtime, timeout });
    const batches = new BatchMessages(client, reader);
    const known = new Set<string>();
    let unread = 0;
    let cause: string | null = null;
    for (const [batch, wanted] of ids) {
      const listed = batch === '' ? null : await batches.of(batch);
      const deliveries = new Map(
        listed !== null && 'messages' in listed
          ? listed.messages.map(({ id, delivery }) => [id, delivery])
          : [],
      );
      for (const id of wanted) {
        let delivery = deliveries.get(id);
        if (delivery === undefined && id !== '') {
          const reply = await reader.read(() => client.messages.get(id));
          if ('value' in reply) delivery = reply.value.delivery;
          else cause ??= reply.code;
        }
        if (delivery === undefined) unread += 1;
        else if (delivery !== 'unknown') known.add(id);
      }
    }
    if (unread > 0) throw notRead(unread, cause);
    return known;
  } finally {
    runtime.close();
  }
}

const notRead = (count: number, code: string | null) =>
  new CliError(
    code ?? 'not_final',
    exits.notFinal,
    `the delivery of ${counted(count, 'unknown row')} could not be read${code === null ? '' : `: ${code}`}`,
    {
      hint:
        code !== null && isOfKey(code)
          ? 'Nothing was sent this time. Run it again with a key that can read.'
          : 'Nothing was sent this time. Run it again later: it leaves out anyone who has got the message by then.',
    },
  );
