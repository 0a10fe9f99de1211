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
  options: WaitOptions,
): Promise<void> {
  const rows = lookUp(context, resource, ids, options);
  await (ids.length === 1 ? context.io.printer.single(view, rows) : context.io.printAll(view, rows));
}
