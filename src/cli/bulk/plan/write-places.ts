import type { BufferedFile } from './files/buffered-file.js';
import { noRequest } from './files/plan-format.js';
import { rejectedRow, rowFields, skippedRow } from './files/row-store.js';
import type { PlanDraft } from './plan-draft.js';

/** Writes the place of every row of the input; see `places` in plan-format. */
export function writePlaces({ rows: rowStore, duplicates, layout }: PlanDraft, file: BufferedFile): void {
  layout.restart();
  const lookup = duplicates.lookup();
  rowStore.scan((rows, first) => {
    const count = rows.length / rowFields;
    const places = new Uint32Array(count * 2);
    for (let at = 0; at < count; at += 1) {
      const recipient = rows[at * rowFields + 1] ?? 0;
      const message = rows[at * rowFields + 2] ?? 0;
      const put = (request: number, index: number) => {
        places[at * 2] = request;
        places[at * 2 + 1] = index;
      };
      if (message === rejectedRow) {
        put(noRequest.rejected, 0);
      } else if (message === skippedRow) {
        put(noRequest.skipped, 0);
      } else {
        const duplicate = lookup?.find(first + at, recipient, message) ?? null;
        if (duplicate === null) {
          layout.next(message);
          lookup?.place(first + at, layout.request, layout.index);
          put(layout.request, layout.index);
        } else if ('request' in duplicate) put(duplicate.request, duplicate.index);
        else put(noRequest.conflict, duplicate.conflictLine);
      }
    }
    file.append(new Uint8Array(places.buffer));
  });
  duplicates.finish();
}
