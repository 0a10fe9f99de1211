import type { View } from '../output/view.js';
import type { Missing } from '../output/views.js';
import { type LookupContext, lookUp, type Resource } from './lookup.js';
import type { WaitOptions } from './wait.js';

/** Looks up ids and prints them: one as a record, several as a list. */
export async function show<State extends object>(
  context: LookupContext,
  view: View<State | Missing>,
  resource: Resource<State>,
  ids: readonly string[],
  options: WaitOptions & { array?: boolean },
): Promise<void> {
  const rows = lookUp(context, resource, ids, options);
  const { printer } = context.io;
  const isSingle = ids.length === 1 && !(options.array && printer.format === 'json');
  await (isSingle ? printer.single(view, rows) : context.io.printAll(view, rows));
}
