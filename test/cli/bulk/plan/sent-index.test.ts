import { describe, expect, it } from 'vitest';
import { messageHash, SentIndex } from '../../../../src/cli/bulk/plan/sent-index.js';
import { seededRandom } from '../../../support/random.js';

describe('the index of what was sent', () => {
  it('knows everyone it was told of and nobody else, and counts each once', () => {
    const random = seededRandom(7);
    const index = new SentIndex();
    const hello = messageHash('"text":"Hello"}');
    const hi = messageHash('"text":"Hi"}');
    const all = Array.from({ length: 50_000 }, () => String(Math.floor(random() * 1e8)).padStart(8, '0'));
    const sent = new Set(all.slice(0, 20_000));
    const open = new Set(all.slice(20_000, 30_000).filter((each) => !sent.has(each)));
    for (const each of sent) index.addSent(each, hello);
    for (const each of open) index.addOpen(each, hello, 'july');
    const mistaken = [...all, ...all].filter(
      (each) => index.count(each, hello) !== sent.has(each) || index.count(each, hi),
    );
    expect(mistaken).toEqual([]);
    expect(index.counts).toEqual({
      sent: sent.size,
      uncertain: new Map(),
      open: new Map([['july', open.size]]),
    });
  });

  it('counts as uncertain only who is in no other job', () => {
    const index = new SentIndex();
    const message = messageHash('m');
    for (const each of ['99112233', '99112234']) index.addUncertain(each, message, 'july');
    index.addSent('99112233', message);
    for (const each of ['99112233', '99112234', '99112235']) index.count(each, message);
    expect(index.counts).toEqual({ sent: 2, uncertain: new Map([['july', 1]]), open: new Map() });
  });

  it('takes who is still to be sent to for that, whichever is told first', () => {
    const index = new SentIndex();
    const message = messageHash('m');
    index.addSent('99112233', message);
    index.addOpen('99112233', message, 'july');
    index.addSent('99112233', message);
    expect(index.count('99112233', message)).toBe(false);
    expect(index.counts).toEqual({ sent: 0, uncertain: new Map(), open: new Map([['july', 1]]) });
  });
});
