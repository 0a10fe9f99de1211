import type { ReceiptStatus } from '../results/receipts.js';
import type { Entry } from './journal.js';

/** How a request stands, for the report. */
export interface RequestEnd {
  status: ReceiptStatus;
  id: string;
  code: string;
  credits: number | null;
  final: { sent: number; failed: number } | null;
  /** Why each position was taken out. */
  removed: Map<number, string> | null;
  /** Whether some of it may not be in its batch; who, only a list of the batch can say. */
  unsure: boolean;
}

/** The journal, read for the report. */
export async function endsOf(journal: {
  replay(onEntry: (entry: Entry) => void): Promise<void>;
}): Promise<Map<number, RequestEnd>> {
  const ends = new Map<number, RequestEnd>();
  const at = (request: number): RequestEnd => {
    const end = ends.get(request) ?? {
      status: 'pending',
      id: '',
      code: '',
      credits: null,
      final: null,
      removed: null,
      unsure: false,
    };
    ends.set(request, end);
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
        // Without a number at its end it is of an earlier release, and a copy may be unanswered.
        Object.assign(at(entry[1]), { status: entry[4] === 0 ? 'pending' : 'in_doubt', code: entry[3] });
        break;
      case 'revised':
        Object.assign(at(entry[1]), { status: 'pending', code: '', id: '', credits: null });
        break;
      case 'removed': {
        const end = at(entry[1]);
        end.status = 'pending';
        end.removed ??= new Map();
        for (const index of entry[3]) end.removed.set(index, 'invalid_request');
        break;
      }
      case 'moved':
      case 'absent': {
        const end = at(entry[1]);
        end.removed ??= new Map();
        for (const index of entry[3]) end.removed.set(index, entry[0] === 'moved' ? 'moved' : 'not_in_batch');
        break;
      }
      case 'unsure':
        at(entry[1]).unsure = entry[3] > 0;
        break;
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
