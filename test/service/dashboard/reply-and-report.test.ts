import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageView } from '../../../src/cli/output/views.js';
import { gsmCharacters, gsmExtensionCharacters } from '../../../src/contract/index.js';
import { counter } from '../../../src/service/dashboard/assets/counter.js';
import { english } from '../../../src/service/dashboard/language/english.js';
import { draftOf } from '../../../src/service/dashboard/send/draft.js';
import { sizeLine } from '../../../src/service/dashboard/send/views.js';
import { atBrowser } from './forms.js';
import { openDashboard } from './open.js';

const mailOf = (from: string, subject: string) =>
  Buffer.from(`From: ${from}\r\nTo: info@shop.mn\r\nSubject: ${subject}\r\n\r\nWhen?\r\n`);

async function openInbox() {
  const opened = await openDashboard();
  const { administration } = opened.service;
  await administration.settings.update({ own_domain: 'shop.mn' });
  await administration.receiveMail(mailOf('bat@example.mn', 'Order 1042'), ['info@shop.mn']);
  return { ...opened, administration, ...atBrowser(opened, await opened.signIn()) };
}

describe('a reply', () => {
  it('is to whoever wrote, by the id of the message alone', async () => {
    const { open, press, confirm, addresses } = await openInbox();
    const inbox = await open('/inbox');
    const link = /href="\/dashboard(\/send\?[^"]*)"/.exec(inbox.html)?.[1] ?? '';
    const page = await open(link);
    expect(page.words).toMatch(/Reply: bat@example\.mn Order 1042 When\? /);
    expect(page.fields).toMatchObject({
      channel: 'email',
      to: 'bat@example.mn',
      subject: 'Re: Order 1042',
      text: '',
    });
    // An error on the way leaves the message above it.
    const wrong = await press(page);
    expect(wrong.status).toBe(400);
    const looked = await press({ ...page, fields: { ...page.fields, text: 'Today' } });
    const { location } = await confirm(looked);
    expect((await open(location)).words).toContain('Re: Order 1042');
    expect(addresses.join()).not.toMatch(/bat|Order|Today/);
  });

  it.each(['', 'Re: '])('has a subject that can be sent, of one that is too long: "%s…"', async (before) => {
    const { administration, open, press } = await openInbox();
    await administration.receiveMail(mailOf('bat@example.mn', before + 'x'.repeat(300)), ['info@shop.mn']);
    const link = /href="\/dashboard(\/send\?[^"]*)"/.exec((await open('/inbox')).html)?.[1] ?? '';
    const page = await open(link);
    expect(page.fields.subject).toBe(`Re: ${'x'.repeat(251)}`);
    expect((await press({ ...page, fields: { ...page.fields, text: 'Today' } })).status).toBe(200);
  });

  it('is none to a message of another project, or to nobody', async () => {
    const { administration, service, open, signIn, get } = await openInbox();
    const { id } = await administration.createProject('Shop');
    const other = await signIn((await service.administration.project(id)) ?? undefined);
    const { data } = await administration.inbox();
    const found = await get(`/send?reply=${data[0]?.id}`, other);
    const form = found.headers.get('location')?.replace('/dashboard', '') ?? '';
    expect((await get(form, other)).status).toBe(404);
    await administration.receiveMail(mailOf('', 'No sender'), ['info@shop.mn']);
    const { html } = await open('/inbox');
    expect(html.match(/>Reply</g)).toHaveLength(1);
    expect((await open('/send?reply=x')).fields.to).toBe('');
  });
});

describe('the report of a batch', () => {
  it('is a CSV file with the columns of urtuu messages list, which no spreadsheet runs', async () => {
    const { call, get, signIn, service, open } = await openInbox();
    const { id } = await call('/email/bulk', {
      to: ['=1+1@example.mn', 'bat@example.mn'],
      subject: 'Hi',
      text: 'Hi',
    });
    await service.administration.idle();
    const link =
      /href="\/dashboard(\/batches\/[^"]*\.csv)"/.exec((await open(`/batches/${id}`)).html)?.[1] ?? '';
    const cookie = await signIn();
    const answer = await get(link, cookie);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="batch-${id}.csv"`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const [head, ...lines] = (await answer.text()).split('\r\n');
    expect(head).toBe(messageView.columns.map(({ name }) => name).join());
    expect(lines).toHaveLength(3);
    expect(lines.join()).toMatch(/,sent,email,'=1\+1@example\.mn,,2,,/);
    expect((await get(`/batches/${id.replace(/.$/, 'g')}/report.csv`, cookie)).status).toBe(404);
    expect((await get('/batches/00000000-0000-7000-8000-00000000ffff/report.csv', cookie)).status).toBe(404);
    expect((await get(link)).status).toBe(401);
  });
});

describe('the script that counts', () => {
  const pricing = {
    sms: {
      ...{ credits_per_part: 10, rate_multiplier: 1.15, latin_characters_per_part: 150 },
      ...{ cyrillic_characters_per_part: 60, max_parts: 5 },
    },
    email: { credits_per_message: 2 },
  };
  const context = { t: english, projectId: 'p', operations: { getPricing: async () => pricing } } as never;

  it.each(['sms', 'email'])('says what the page without it says, of any text: %s', async (channel) => {
    const letter = fc.oneof(
      fc.constantFrom(...gsmCharacters.replace('\r', ''), ...gsmExtensionCharacters),
      fc.constantFrom('Ж', 'ө', '😀', '’'),
    );
    const texts = fc.array(letter, { maxLength: 400 }).map((letters) => letters.join(''));
    const recipients = fc.array(fc.constantFrom('99112233', ' 8811 2233', '', 'x'), { maxLength: 5 });
    const cases = fc.record({
      text: fc.oneof(texts, fc.constantFrom('', 'a'.repeat(750), 'a'.repeat(751))),
      to: recipients,
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ text, to }) => {
        const written = { text, to: to.join('\n') };
        const { line, data } = await sizeLine({ context, form: '', draft: draftOf({ channel, ...written }) });
        const dataset = Object.fromEntries(
          Object.entries(data).map(([name, value]) => [name.slice(5), value]),
        );
        const page: Record<string, { value?: string; textContent?: string; dataset?: object }> = {
          'text-hint': {},
          text: { value: written.text, dataset },
          to: { value: written.to },
        };
        runInNewContext(counter, { document: { getElementById: (id: string) => page[id] } });
        expect(page['text-hint']?.textContent).toBe(line);
      }),
      { numRuns: 60 },
    );
  });

  it('counts again what a browser fills in when one comes back', () => {
    const hint = { textContent: '' };
    const text = { value: '', dataset: { email: '{credits}', prices: '2' } };
    const to = { value: '' };
    const page: Record<string, object> = { 'text-hint': hint, text, to };
    const window = { document: { getElementById: (id: string) => page[id] }, onpageshow: () => {} };
    runInNewContext(counter, window);
    to.value = 'a@b.mn\nc@d.mn';
    window.onpageshow();
    expect(hint.textContent).toBe('4');
  });

  it('has under 2 KB', () => {
    expect(counter.length).toBeLessThan(2_048);
  });
});
