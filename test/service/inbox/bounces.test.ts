import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMail } from '../../../src/service/inbox/read-mail.js';
import { failureOf } from '../../../src/service/inbox/report.js';

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
