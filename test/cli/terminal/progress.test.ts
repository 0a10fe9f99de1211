import { describe, expect, it } from 'vitest';
import { bar, DrawnProgress, fitted } from '../../../src/cli/terminal/progress.js';
import { smsMessage } from '../../support/resources.js';
import { Captured, fakeService, run } from '../../support/run.js';

/** A drawing that writes down what is done with it. */
function drawing() {
  const log: string[] = [];
  return {
    log,
    draw: (text: string) => {
      log.push('draw');
      return {
        set text(value: string) {
          log.push(value);
        },
        get text() {
          return text;
        },
        clear: () => void log.push('clear'),
        stop: () => void log.push('stop'),
      };
    },
  };
}
const messages = () => fakeService(({ path }) => ({ body: smsMessage({ id: path.slice(10) }) }));
const ids = Array.from({ length: 30 }, (_, index) => `m${index}`).join(' ');

describe('the display of long work', () => {
  it('is drawn on a terminal, makes room for what is printed, and goes away', async () => {
    const { log, draw } = drawing();
    const { code } = await run(`messages get ${ids} -o ndjson`, { ...messages(), draw, terminal: 100 });
    expect(code).toBe(0);
    expect(log[0]).toBe('draw');
    expect(log).toContain('clear');
    expect(log.some((each) => each.includes('█'))).toBe(true);
    expect(log.at(-1)).toBe('stop');
  });

  it('can be cleared as soon as it is drawn', async () => {
    const { log, draw } = drawing();
    let shown: DrawnProgress | null = null;
    const clock = { now: () => 0, elapsed: () => 0, sleep: async () => {}, after: () => () => {} };
    const stopped = new Promise<void>((resolve) => {
      const drawThenStop = (text: string) => {
        // The next thing to run prints something else.
        queueMicrotask(() => {
          shown?.stop();
          log.push('printed');
          resolve();
        });
        return draw(text);
      };
      shown = new DrawnProgress(
        async () => drawThenStop,
        clock,
        () => 80,
      );
    });
    await stopped;
    expect(log).toEqual(['draw', 'stop', 'printed']);
  });

  it('is not drawn with --quiet, nor on a pipe', async () => {
    const { log, draw } = drawing();
    await run(`messages get ${ids} --quiet`, { ...messages(), draw, terminal: 100 });
    const pipe = await run(`messages get ${ids} --json`, { ...messages(), draw });
    expect(log).toEqual([]);
    expect(pipe.stderr).toBe('');
  });

  it('is a line every 10 s on a pipe', async () => {
    const many = Array.from({ length: 320 }, (_, index) => `m${index}`).join(' ');
    const { stderr } = await run(`messages get ${many}`, { ...messages(), stdout: new Captured(undefined) });
    expect(stderr.trimEnd().split('\n')).toHaveLength(3);
    expect(stderr).toMatch(/^Reading message \d+ \(\d+ of 320\)\n/);
  });

  it.each([
    [0, 10, '░░░░░   0 %'],
    [5, 10, '██░░░  50 %'],
    [999, 1000, '████░  99 %'],
    [10, 10, '█████ 100 %'],
    [0, 0, '█████ 100 %'],
  ])('says %i of %i as %s', (done, total, text) => expect(bar(done, total, 5)).toBe(text));
});

describe('the line of long work', () => {
  const part = { done: 1_844, total: 2_600 };
  const words = ['1,844 of 2,600 accepted', '0 failed', '14 s left', '184/s', '31,610 credits'];

  it.each([
    [120, '██████████████░░░░░░  70 % 1,844 of 2,600 accepted, 0 failed, 14 s left, 184/s, 31,610 credits'],
    [86, '███████░░░  70 % 1,844 of 2,600 accepted, 0 failed, 14 s left, 184/s, 31,610 credits'],
    [77, '███░░ 1,844 of 2,600 accepted, 0 failed, 14 s left, 184/s, 31,610 credits'],
    [60, '███░░ 1,844 of 2,600 accepted, 0 failed, 14 s left, 184/s'],
    [56, '███░░  70 % 1,844 of 2,600 accepted, 0 failed, 14 s left'],
    [30, '███░░ 1,844 of 2,600 accepted'],
    [20, '1,844 of 2,600 acce…'],
  ])('fits %i columns', (columns, line) => expect(fitted(words, part, columns)).toBe(line));

  it('is never wider than the terminal, at no width', () => {
    for (let columns = 1; columns < 200; columns += 1) {
      expect(fitted(words, part, columns).length).toBeLessThanOrEqual(columns);
      expect(fitted(['Reading the file'], null, columns).length).toBeLessThanOrEqual(columns);
    }
  });
});
