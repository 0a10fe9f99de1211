import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMail } from '../../../src/service/inbox/read-mail.js';
import { failureOf } from '../../../src/service/inbox/report.js';
import { bounceOf } from '../../support/bounces.js';

/** What mail servers say of a mail to bold@example.com, in a folder each for what it means. */
const folder = resolve(import.meta.dirname, '../../fixtures/bounces');
const meanings = {
  suppressed: 'says that the recipient does not exist',
  bounced: 'says that the mail was not delivered, for another cause or to somebody else',
  ignored: 'says nothing of the mail',
} as const;

describe.each(Object.keys(meanings) as (keyof typeof meanings)[])('a bounce in %s', (meaning) => {
  it.each(readdirSync(join(folder, meaning)))(`%s ${meanings[meaning]}`, async (name) => {
    const lines = readFileSync(join(folder, meaning, name), 'utf8').replaceAll('\r\n', '\n');
    for (const raw of [lines, lines.replaceAll('\n', '\r\n')]) {
      const { report } = await readMail(Buffer.from(raw));
      const failure = report === null ? null : failureOf(report, 'bold@example.com');
      const read = failure === null ? 'ignored' : failure.isUnknownRecipient ? 'suppressed' : 'bounced';
      expect(read).toBe(meaning);
    }
  });
});

describe('a report', () => {
  const failureIn = async (raw: string) => {
    const { report } = await readMail(Buffer.from(raw));
    return report === null ? null : failureOf(report, 'bold@example.com');
  };

  const unknown = { code: '5.1.1', isUnknownRecipient: true };
  it.each<[string, string, object | null]>([
    ['of a failure', bounceOf('x@b.mn'), unknown],
    ['with line feeds alone', bounceOf('x@b.mn').replaceAll('\r\n', '\n'), unknown],
    ['in capitals', bounceOf('x@b.mn', { action: 'FAILED', type: 'MULTIPART/REPORT' }), unknown],
    [
      'with a comment',
      bounceOf('x@b.mn', { action: 'failed (gave up)', status: '4.4.7 (expired)' }),
      { code: '5.1.1', isUnknownRecipient: false },
    ],
    ['without a status', bounceOf('x@b.mn', { status: '' }), unknown],
    ['with a status that says nothing', bounceOf('x@b.mn', { status: '5.0.0' }), unknown],
    [
      'without a code in the answer',
      bounceOf('x@b.mn', { status: '5.2.1', diagnostic: 'smtp; 550 mailbox disabled at 10.5.1.1' }),
      { code: '5.2.1', isUnknownRecipient: false },
    ],
    [
      'without any code',
      bounceOf('x@b.mn', { status: '', diagnostic: 'smtp; 550 mailbox full' }),
      { code: null, isUnknownRecipient: false },
    ],
    ['of a delay', bounceOf('x@b.mn', { action: 'delayed', status: '4.4.1' }), null],
    ['of a delivery', bounceOf('x@b.mn', { action: 'delivered', status: '2.0.0' }), null],
    ['of a relay', bounceOf('x@b.mn', { action: 'relayed', status: '2.0.0' }), null],
    [
      'of a failure among several recipients',
      bounceOf('x@b.mn', { action: 'delivered\r\n\r\nAction: failed' }),
      { code: '5.1.1', isUnknownRecipient: false },
    ],
    [
      'without a type of the address',
      bounceOf('x@b.mn').replace('Recipient: rfc822;', 'Recipient:'),
      unknown,
    ],
    [
      'without a type of the address, of somebody else',
      bounceOf('x@b.mn', { of: 'dorj@example.mn' }).replace(
        'Final-Recipient: rfc822;',
        'Original-Recipient: rfc822;bold@example.com\r\nFinal-Recipient:',
      ),
      { code: '5.1.1', isUnknownRecipient: false },
    ],
    ['of OpenSMTPD', bounceOf('x@b.mn', { type: 'multipart/mixed' }), unknown],
    [
      'whose answer goes on without a blank, and has another cause',
      bounceOf('x@b.mn', { diagnostic: 'smtp; 550-5.1.1 Not now:\r\n550 over quota' }),
      { code: '5.1.1', isUnknownRecipient: false },
    ],
    [
      'whose answer names no type',
      bounceOf('x@b.mn', { diagnostic: '552 5.2.2 full; bold@example.com' }),
      { code: '5.2.2', isUnknownRecipient: false },
    ],
    [
      'with other words beside the answer',
      bounceOf('x@b.mn', { diagnostic: 'smtp; 550 5.1.1 unknown\r\nX-Filter: spam' }),
      unknown,
    ],
    ['that only looks like one', bounceOf('x@b.mn', { type: 'multipart/alternative' }), null],
    [
      'that somebody forwards',
      `From: a@b.mn\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee\r\n--x\r\nContent-Type: message/rfc822\r\n\r\n${bounceOf('x@b.mn')}\r\n--x--`,
      null,
    ],
    ['in another mail', `From: a@b.mn\r\nContent-Type: message/rfc822\r\n\r\n${bounceOf('x@b.mn')}`, null],
    [
      'of a machine that is away',
      'From: a@b.mn\r\nAuto-Submitted: auto-replied\r\n\r\nAction: failed\r\nStatus: 5.1.1',
      null,
    ],
  ])('%s', async (_, raw, failure) => {
    expect(await failureIn(raw)).toEqual(failure);
  });
});
