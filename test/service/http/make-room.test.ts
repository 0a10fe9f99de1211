import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { longestWaiting, networkOf, type Waiting } from '../../../src/service/http/make-room.js';

const now = 100_000;
/** A request whose body has arrived, or not. */
const request = (complete: boolean) => ({ req: { complete } }) as ServerResponse;
const whole = request(true);
const part = request(false);

type Row = [name: string, client: string, age: number, pending: ServerResponse[], unread?: number];

it.each<[string, Row[], string | null]>([
  [
    'the one that is idle longest',
    [
      ['a', '1', 5, []],
      ['b', '1', 9, []],
      ['c', '1', 7, []],
    ],
    'b',
  ],
  [
    'the one whose body is awaited longest',
    [
      ['a', '1', 5, []],
      ['b', '1', 9, [part]],
    ],
    'b',
  ],
  [
    'none that is at work',
    [
      ['a', '1', 9, [whole]],
      ['b', '1', 9, [whole, part]],
      ['c', '1', 5, []],
    ],
    'c',
  ],
  [
    'one that reads no answer for 3 s',
    [
      ['a', '1', 3_001, [whole], 1],
      ['b', '1', 9_000, [whole]],
    ],
    'a',
  ],
  ['nobody who has just been answered', [['a', '1', 2_999, [whole], 1]], null],
  [
    'one of the client with most that wait',
    [
      ['a', '1', 9, []],
      ['b', '2', 5, []],
      ['c', '2', 4, [part]],
    ],
    'b',
  ],
  [
    'nobody of one who works',
    [
      ['a', '1', 9, [whole]],
      ['b', '1', 9, [whole]],
      ['c', '2', 4, []],
    ],
    'c',
  ],
  ['nobody', [], null],
])('a connection that makes room for a newcomer is %s', (_, rows, expected) => {
  const open = new Map(
    rows.map(([name, client, age, pending, unread = 0]) => {
      const waiting: Waiting = {
        client,
        since: now - age,
        pending: new Set(pending),
        latest: pending.at(-1) ?? null,
      };
      return [{ name, writableLength: unread }, waiting];
    }),
  );
  expect(longestWaiting(open, now)?.name ?? null).toBe(expected);
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8::3:4:5:6:7', '2001:db8:0:3'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('the client at %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
