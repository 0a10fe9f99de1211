import { slowWords } from '../../../contract/index.js';
import type { SlowLane } from '../../../service/index.js';
import type { Context } from '../../context.js';
import type { Column } from '../../output/view.js';
import { duration } from '../../text/wording.js';

interface Slow {
  lane: string;
  slow: readonly SlowLane[];
}

/** Warns of every slow lane, and of every slow project on it: since when, and the last answer. */
export function warnOfSlow(lanes: readonly Slow[], io: Context['io']): void {
  for (const { lane, slow } of lanes) {
    for (const one of slow) {
      const project = one.project === null ? '' : `, project ${one.project_name ?? one.project}`;
      io.warn(`${lane}${project}: ${slowWords[one.state]} for ${duration(one.seconds)}${withAnswer(one)}`);
    }
  }
}

export const slowColumn: Column<Slow> = {
  name: 'slow',
  value: ({ slow }) =>
    slow.map((one) => `${one.project ?? 'lane'} ${one.state}${withAnswer(one)}`).join('; ') || null,
};

function withAnswer({ code, words }: SlowLane): string {
  const answer = `${code} ${words}`.trim();
  return answer === '' ? '' : `: ${answer}`;
}
