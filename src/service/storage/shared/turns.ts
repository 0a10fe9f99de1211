import type { ClaimedMessage } from '../dispatching.js';
import { groupBy } from './group-by.js';

/** The most projects in a claim; the others take their turn in the next. */
export const mostProjects = 100;
/** Messages of a batch before another batch of the project takes its turn. */
export const batchSlice = 100;

/**
 * The messages of a claim in the order in which they are sent: one of each project in turn, and slices of its batches
 * in turn.
 */
export function inTurn(claimed: readonly ClaimedMessage[]): ClaimedMessage[] {
  const projects = [...groupBy(claimed, ({ message }) => message.projectId).values()];
  return dealtOut(
    projects.map((list) =>
      dealtOut([...groupBy(list, ({ message }) => message.batchId).values()], batchSlice),
    ),
    1,
  );
}

/** That many of each list in turn. */
function dealtOut<Item>(lists: readonly Item[][], each: number): Item[] {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const items: Item[] = [];
  for (let from = 0; from < longest; from += each)
    for (const list of lists) items.push(...list.slice(from, from + each));
  return items;
}
