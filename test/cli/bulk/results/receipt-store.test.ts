import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ReceiptStore, type StoredReceipt } from '../../../../src/cli/bulk/results/receipt-store.js';
import { testFolder } from '../../../support/folders.js';

const job = { id: 'july', digest: 'd' };
const sent: StoredReceipt = {
  index: 0,
  id: 'm',
  status: 'sent',
  code: '',
  credits: 1,
  delivery: 'delivered',
};

/** A folder with the outcomes of two batches. */
async function stored() {
  const folder = testFolder();
  const open = async (more: { isShared?: boolean } = {}, of = job) => {
    const store = await ReceiptStore.open(folder, of, more);
    const read: unknown[] = [];
    await store?.read((...each) => read.push(each));
    return { store, read };
  };
  const { store } = await open();
  await store?.keep(0, 'a', [sent]);
  await store?.keep(1, 'b', [sent]);
  await store?.close();
  const file = join(folder, 'receipts');
  return { file, open, text: () => readFileSync(file, 'utf8') };
}

it('the outcomes of batches are read once, in order; a reader beside another process leaves a torn line', async () => {
  const { file, open, text } = await stored();
  appendFileSync(file, 'torn');
  const shared = await open({ isShared: true });
  expect(shared.read).toEqual([
    [0, 'a', [sent]],
    [1, 'b', [sent]],
  ]);
  await shared.store?.close();
  expect(text()).toMatch(/torn$/);
});

it.each([
  ['a torn line', 'torn'],
  ['what is too long for a line', 'x'.repeat(5 * 2 ** 20)],
])('outcomes are added after %s was cut off', async (_, end) => {
  const { file, open } = await stored();
  appendFileSync(file, end);
  const { store } = await open();
  await store?.keep(2, 'c', [sent]);
  await store?.close();
  const again = await open();
  expect(again.read.at(-1)).toEqual([2, 'c', [sent]]);
  await again.store?.close();
});

it('damaged outcomes are named by their request, and read from the service again', async () => {
  const { file, open, text } = await stored();
  writeFileSync(file, text().replace('"b"', '"x"'));
  const { store, read } = await open();
  expect(read).toEqual([
    [0, 'a', [sent]],
    [1, '', null],
  ]);
  await store?.close();
});

it('the outcomes of another job are dropped, and not read beside another process', async () => {
  const { open, text } = await stored();
  const other = { ...job, digest: 'other' };
  expect((await open({ isShared: true }, other)).store).toBeNull();
  const { store, read } = await open({}, other);
  expect(read).toEqual([]);
  await store?.close();
  expect(text().split('\n')).toHaveLength(2);
});
