import { describe, expect, it } from 'vitest';
import { decodeEntry, type Entry, encodeEntry } from '../../../../../src/cli/bulk/job/journal/entries.js';
import { decoded, type Encoded } from '../../journal-lines.js';

/** Every type of entry, and the forms of earlier releases, with the fields that they have in memory. */
const entries: [Encoded, Entry][] = [
  [['job', 'july', 'd'], { type: 'job', id: 'july', digest: 'd' }],
  [['limit', 100], { type: 'limit', credits: 100 }],
  [['limit', null], { type: 'limit', credits: null }],
  [['account', 'h'], { type: 'account', hash: 'h', isChecked: false }],
  [['account', 'h', true], { type: 'account', hash: 'h', isChecked: true }],
  [['end', 't', 3, 990], { type: 'end', at: 't', exit: 3, balance: 990, rate: null }],
  [['end', 't', 3, 990, 5], { type: 'end', at: 't', exit: 3, balance: 990, rate: 5 }],
  [['send', 7, 1, 3], { type: 'send', request: 7, revision: 1, recipients: 3 }],
  [
    ['accepted', 7, 1, 'b', 30, 'batch'],
    {
      type: 'accepted',
      request: 7,
      revision: 1,
      id: 'b',
      credits: 30,
      kind: 'batch',
      replayOf: null,
      acceptedAt: null,
    },
  ],
  [
    ['accepted', 7, 1, 'm', 10, 'single', ''],
    {
      type: 'accepted',
      request: 7,
      revision: 1,
      id: 'm',
      credits: 10,
      kind: 'single',
      replayOf: '',
      acceptedAt: null,
    },
  ],
  [
    ['accepted', 7, 1, 'b', 30, 'batch', null, 5],
    {
      type: 'accepted',
      request: 7,
      revision: 1,
      id: 'b',
      credits: 30,
      kind: 'batch',
      replayOf: null,
      acceptedAt: 5,
    },
  ],
  [
    ['accepted', 7, 1, 'm', 10, 'single', 't', 5],
    {
      type: 'accepted',
      request: 7,
      revision: 1,
      id: 'm',
      credits: 10,
      kind: 'single',
      replayOf: 't',
      acceptedAt: 5,
    },
  ],
  [['alarm', 7, 1, 'why'], { type: 'alarm', request: 7, revision: 1, reason: 'why' }],
  [['rejected', 7, 1, 'code'], { type: 'rejected', request: 7, revision: 1, code: 'code' }],
  [['removed', 7, 1, [0, 2]], { type: 'removed', request: 7, revision: 1, indexes: [0, 2] }],
  [['revised', 7, 1], { type: 'revised', request: 7, revision: 1 }],
  [['failed', 7, 1, 'code', null], { type: 'failed', request: 7, revision: 1, code: 'code', id: null }],
  [['failed', 7, 1, 'code', 'm'], { type: 'failed', request: 7, revision: 1, code: 'code', id: 'm' }],
  [['refused', 7, 1, 'code'], { type: 'refused', request: 7, revision: 1, code: 'code', unanswered: null }],
  [['refused', 7, 1, 'code', 0], { type: 'refused', request: 7, revision: 1, code: 'code', unanswered: 0 }],
  [['absent', 7, 1, [1]], { type: 'absent', request: 7, revision: 1, indexes: [1] }],
  [['unsure', 7, 1, 2], { type: 'unsure', request: 7, revision: 1, recipients: 2 }],
  [['progress', 7, 2, 1, null], { type: 'progress', request: 7, sent: 2, failed: 1, unknown: null }],
  [['progress', 7, 2, 1, 1], { type: 'progress', request: 7, sent: 2, failed: 1, unknown: 1 }],
  [
    ['final', 7, 2, 1, null],
    { type: 'final', request: 7, sent: 2, failed: 1, code: null, unknown: null, suppressed: null },
  ],
  [
    ['final', 7, 0, 1, 'code'],
    { type: 'final', request: 7, sent: 0, failed: 1, code: 'code', unknown: null, suppressed: null },
  ],
  [
    ['final', 7, 2, 1, null, 0],
    { type: 'final', request: 7, sent: 2, failed: 1, code: null, unknown: 0, suppressed: null },
  ],
  [
    ['final', 7, 2, 1, null, null, 1],
    { type: 'final', request: 7, sent: 2, failed: 1, code: null, unknown: null, suppressed: 1 },
  ],
  [
    ['moved', 7, 1, [1], 3],
    { type: 'moved', request: 7, revision: 1, indexes: [1], recipients: 3, job: null },
  ],
  [
    ['moved', 7, 1, [1], 3, 'july-retry'],
    { type: 'moved', request: 7, revision: 1, indexes: [1], recipients: 3, job: 'july-retry' },
  ],
];

describe('an entry of the journal', () => {
  it.each(entries)('%j has named fields, and its own bytes again', (encoded, entry) => {
    expect(decoded(encoded)).toEqual(entry);
    expect(JSON.stringify(encodeEntry(entry))).toBe(JSON.stringify(encoded));
  });

  it('of an unknown type is null', () => {
    for (const type of ['later', 'toString', '__proto__', 1, null, undefined]) {
      expect(decodeEntry([type, 1])).toBeNull();
    }
  });
});
