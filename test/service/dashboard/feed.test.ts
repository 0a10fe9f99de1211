import { expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { Feed } from '../../../src/service/dashboard/feed.js';

const tick = () => new Promise((resolve) => setTimeout(resolve, 0));

function open() {
  const clock = new ManualClock();
  const reports: unknown[] = [];
  const over = new Set<string>();
  const feed = new Feed({
    clock,
    isOpen: async (session) => !over.has(session),
    report: (error) => reports.push(error),
  });
  onTestFinished(() => feed.end());
  const page = { content: 'a', looks: 0, fails: false };
  const look = async () => {
    page.looks += 1;
    if (page.fails) throw new Error('no store');
    return page.content;
  };
  async function pass(milliseconds = 2_000): Promise<void> {
    clock.advance(milliseconds);
    await tick();
    await tick();
  }
  /** What a tab has heard, without comments. */
  function watch(session = 's', name = 'page') {
    const heard: string[] = [];
    const reader = feed.open(name, session, look).getReader();
    const tab = { heard, isOver: false, signs: 0, leave: () => reader.cancel() };
    void (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const text = Buffer.from(value).toString();
        if (text.startsWith(':')) tab.signs += 1;
        else if (!text.startsWith('retry')) heard.push(text.trim());
      }
      tab.isOver = true;
    })();
    return tab;
  }
  return { feed, page, pass, watch, reports, over };
}

it('looks once for all that watch a page, and tells what has changed', async () => {
  const { page, pass, watch } = open();
  const tabs = [watch('s1'), watch('s1'), watch('s2')];
  await pass();
  await pass();
  page.content = '<b>"é"</b>\n';
  await pass();
  expect(page.looks).toBe(3);
  for (const { heard } of tabs) expect(heard).toEqual(['data: "a"', 'data: "<b>\\"é\\"</b>\\n"']);
});

it('looks no more when nobody watches', async () => {
  const { page, pass, watch } = open();
  const one = watch();
  const two = watch();
  await pass();
  await one.leave();
  await pass();
  await two.leave();
  await pass();
  expect(page.looks).toBe(2);
});

it('ends the streams of a session that is over, and of no other', async () => {
  const { feed, pass, watch, over } = open();
  const gone = watch('gone');
  const left = watch('left');
  const stays = watch('stays');
  over.add('gone');
  feed.end('left');
  await pass();
  expect([gone, left, stays].map(({ isOver }) => isOver)).toEqual([true, true, false]);
  expect(gone.heard).toEqual(['event: end\ndata:']);
  expect(stays.heard).toEqual(['data: "a"']);
});

it('ends all streams without a word when the service stops: browsers come back', async () => {
  const { feed, pass, watch } = open();
  const tabs = [watch('s1'), watch('s2', 'other')];
  feed.end();
  await pass();
  expect(tabs).toMatchObject([
    { isOver: true, heard: [] },
    { isOver: true, heard: [] },
  ]);
});

it('goes on after a failure, which is reported', async () => {
  const { page, pass, watch, reports } = open();
  const tab = watch();
  page.fails = true;
  await pass();
  page.fails = false;
  await pass();
  expect(reports).toEqual([new Error('no store')]);
  expect(tab.heard).toEqual(['data: "a"']);
});

it('gives a sign of life when nothing changes', async () => {
  const { pass, watch } = open();
  const tab = watch();
  for (let passed = 0; passed < 16_000; passed += 2_000) await pass();
  expect(tab).toMatchObject({ signs: 1, heard: ['data: "a"'] });
});

it('goes on for the hours of a session, each of them with what has changed', async () => {
  const { page, pass, watch, reports } = open();
  const tab = watch();
  for (let hour = 0; hour < 12; hour += 1) {
    page.content = `hour ${hour}`;
    for (let minute = 0; minute < 60; minute += 1) await pass(60_000);
  }
  expect(tab.heard).toEqual(Array.from({ length: 12 }, (_, hour) => `data: "hour ${hour}"`));
  expect([tab.isOver, tab.signs > 100, reports]).toEqual([false, true, []]);
});

it('has room for ten streams of a session, and a hundred in all', () => {
  const { feed, watch } = open();
  for (let count = 0; count < 10; count += 1) watch('s');
  expect([feed.hasRoom('s'), feed.hasRoom('t')]).toEqual([false, true]);
  for (let count = 0; count < 90; count += 1) watch(`s${count}`);
  expect(feed.hasRoom('t')).toBe(false);
});

it('gives up a stream that nobody reads', async () => {
  const { feed, page, pass } = open();
  feed.open('page', 's', async () => String(page.looks++));
  for (let count = 0; count < 12; count += 1) await pass();
  const looks = page.looks;
  await pass();
  expect(page.looks).toBe(looks);
});
