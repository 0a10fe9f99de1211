import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildPlan } from '../../../../src/cli/bulk/plan/build-plan.js';
import type { MessageTemplates } from '../../../../src/cli/bulk/plan/composer.js';
import { textOfHtml } from '../../../../src/cli/text/html-text.js';
import { measureText } from '../../../../src/contract/index.js';
import { testFolder } from '../../../support/folders.js';

async function previewOf(rows: string[], templates: MessageTemplates, channel: 'sms' | 'email' = 'sms') {
  const home = testFolder();
  const outcome = await buildPlan(
    {
      bytes: (async function* () {
        yield Buffer.from(`${rows.join('\n')}\n`);
      })(),
      source: 'list.csv',
    },
    {
      channel,
      templates,
      baseUrl: 'http://127.0.0.1:7788/v1',
      folder: join(home, 'plan'),
      createdAt: '2026-11-21T08:00:00.000Z',
      pricing: null,
      skipInvalid: true,
    },
  );
  return outcome.preview;
}

describe('the preview of a plan', () => {
  it('has the first message and the longest one, to their recipients', async () => {
    const rows = ['phone,name', 'nobody,A', '99000000,Bat', '99000001,Tsetsegmaa', '99000002,Od'];
    expect(await previewOf(rows, { text: 'Hi {name}' })).toEqual({
      messages: 3,
      first: { to: '99000000', subject: null, text: 'Hi Bat', parts: 1 },
      longest: { to: '99000001', subject: null, text: 'Hi Tsetsegmaa', parts: 1 },
      longestRequest: 1,
      notGsm: [],
    });
  });

  it('takes the most parts for the longest', async () => {
    const latin = 'a'.repeat(140);
    const cyrillic = 'а'.repeat(100);
    const preview = await previewOf(['phone,text', `99000000,${latin}`, `99000001,${cyrillic}`], {
      text: '{text}',
    });
    expect(preview?.longest).toMatchObject({ to: '99000001', parts: 2 });
  });

  it('never shows a message that nobody gets', async () => {
    // The second row of one recipient is another message: a conflict, and the longest text.
    const rows = ['phone,name', '99000000,Bat', '99000000,Tsetsegmaa', '99000001,Od'];
    expect((await previewOf(rows, { text: '{name}' }))?.longest).toMatchObject({ text: 'Bat' });
  });

  it('leaves out links where the operator carries none', async () => {
    const preview = await previewOf(['phone', '91000000', '99000000'], {
      text: 'See https://example.mn/x now',
    });
    expect(preview?.first).toMatchObject({ to: '91000000', text: 'See now' });
  });

  it('has subject and text of an email, of HTML as it is read', async () => {
    const rows = ['email,name', 'bat@example.mn,A & B'];
    const html =
      '<html><head><title>x</title></head><style>p{}</style><p>Hi <b>{name}</b>,<br>bye</p></html>'.replace(
        '{}',
        '{{}}',
      );
    expect((await previewOf(rows, { subject: 'For {name}', html }, 'email'))?.first).toEqual({
      to: 'bat@example.mn',
      subject: 'For A & B',
      text: 'Hi A & B,\nbye',
      parts: null,
    });
  });

  it('takes the email with the longest bodies for the longest, whatever its subject', async () => {
    const rows = ['email,a,b', `bat@example.mn,${'S'.repeat(200)},short`, 'dorj@example.mn,S,a longer body'];
    const preview = await previewOf(rows, { subject: '{a}', text: '{b}' }, 'email');
    expect(preview?.longest).toMatchObject({ to: 'dorj@example.mn' });
  });

  it('has no shorter message as its longest', async () => {
    const names = fc.array(fc.stringMatching(/^[a-zа-я]{1,90}$/u), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(names, async (list) => {
        const rows = list.map((name, index) => `${99_000_000 + index},${name}`);
        const preview = await previewOf(['phone,name', ...rows], { text: '{name}' });
        const parts = list.map((name) => measureText(name).parts);
        expect(preview?.first.text).toBe(list[0]);
        expect(preview?.longest.parts).toBe(Math.max(...parts));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the text of an HTML body', () => {
  it.each([
    ['<p>One</p><p>Two</p>', 'One\nTwo'],
    ['a<br/>b &lt;c&gt; &amp;amp; &#1057;&#x441;', 'a\nb <c> &amp; Сс'],
    ['<script>alert(1)</script>x < y', 'x < y'],
    ['<!-- hidden -->shown&unknown;', 'shown&unknown;'],
    ['&#99999999;&#1114112;', '&#99999999;&#1114112;'],
  ])('%s', (html, text) => expect(textOfHtml(html)).toBe(text));

  it('takes little time for tags that never close', () => {
    const began = process.cpuUsage();
    textOfHtml('<style '.repeat(40_000));
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
  });
});
