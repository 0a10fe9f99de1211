import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { onAbort } from '../../src/contract/on-abort.js';

/** By its number: what is called on abort, and whether it is cancelled before or by another one that is called. */
const happening = fc.oneof(
  fc.record({ listen: fc.nat(9), cancels: fc.option(fc.nat(9)) }),
  fc.record({ cancel: fc.nat(9) }),
);

it('an abort calls everything that was not cancelled, once, over one listener', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), (happenings) => {
      const abort = new AbortController();
      const cancels = new Map<number, () => void>();
      const called: number[] = [];
      const cancel = (name: number) => {
        cancels.get(name)?.();
        cancels.delete(name);
      };
      for (const each of happenings) {
        if ('cancel' in each) cancel(each.cancel);
        else if (!cancels.has(each.listen)) {
          const { listen, cancels: other } = each;
          const run = () => {
            // What was cancelled meanwhile is not called.
            expect(cancels.has(listen)).toBe(true);
            called.push(listen);
            if (other !== null && !called.includes(other)) cancel(other);
          };
          cancels.set(listen, onAbort(abort.signal, run));
        }
        expect(getEventListeners(abort.signal, 'abort')).toHaveLength(cancels.size > 0 ? 1 : 0);
      }
      abort.abort();
      expect(called.toSorted()).toEqual([...cancels.keys()].toSorted());
    }),
  );
});
