import type { Entry } from './journal.js';
import type { ReceiptStatus } from './receipts.js';

/** How a chunk stands, for the report. */
export interface ChunkEnd {
  status: ReceiptStatus;
  id: string;
  code: string;
  credits: number | null;
  final: { sent: number; failed: number } | null;
  removed: Set<number> | null;
}

/** The journal, read for the report. */
export async function endsOf(journal: {
  replay(onEntry: (entry: Entry) => void): Promise<void>;
}): Promise<Map<number, ChunkEnd>> {
  const ends = new Map<number, ChunkEnd>();
  const at = (chunk: number): ChunkEnd => {
    const end = ends.get(chunk) ?? {
      status: 'pending',
      id: '',
      code: '',
      credits: null,
      final: null,
      removed: null,
    };
    ends.set(chunk, end);
    return end;
  };
  await journal.replay((entry) => {
    switch (entry[0]) {
      case 'send':
        Object.assign(at(entry[1]), { status: 'in_doubt', code: '' });
        break;
      case 'accepted':
        Object.assign(at(entry[1]), { status: 'queued', id: entry[3], credits: entry[4] });
        break;
      case 'alarm':
        Object.assign(at(entry[1]), { status: 'in_doubt', id: '', credits: null, final: null });
        break;
      case 'rejected':
        Object.assign(at(entry[1]), { status: 'rejected', code: entry[3] });
        break;
      case 'failed':
        Object.assign(at(entry[1]), { status: 'failed', code: entry[3], id: entry[4] ?? '', credits: 0 });
        break;
      case 'refused':
        Object.assign(at(entry[1]), { status: 'pending', code: entry[3] });
        break;
      case 'revised':
        Object.assign(at(entry[1]), { status: 'pending', code: '', id: '', credits: null });
        break;
      case 'removed': {
        const end = at(entry[1]);
        end.status = 'pending';
        end.removed ??= new Set();
        for (const index of entry[3]) end.removed.add(index);
        break;
      }
      case 'final':
        Object.assign(at(entry[1]), {
          final: { sent: entry[2], failed: entry[3] },
          ...(entry[4] === null ? {} : { code: entry[4] }),
        });
        break;
    }
  });
  return ends;
}
