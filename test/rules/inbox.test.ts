import { describe, expect, it } from 'vitest';
import type { InboxMessage } from '../../src/contract/index.js';
import { type Customer, newCustomer, type Reply } from './customer.js';

const subjectsOf = ({ body }: Reply) => (body.data as InboxMessage[]).map(({ subject }) => subject);

/** A project with its own domain, a minute between two mails. */
async function withMails(subjects: readonly string[], text = 'Hello') {
  const customer = await newCustomer();
  await customer.service.administration.settings.update({ own_domain: 'shop.mn' });
  for (const subject of subjects) {
    await receive(customer, subject, text);
    customer.clock.advance(60_000);
  }
  return customer;
}

async function receive({ service }: Customer, subject: string, text = 'Hello') {
  const raw = `From: bold@example.com\nTo: Help@Shop.mn\nMessage-ID: <${subject}>\nSubject: ${subject}\n\n${text}`;
  await service.administration.receiveMail(Buffer.from(raw), []);
}

describe('GET /v1/inbox', () => {
  it('shows what the project received, newest first, with subjects and texts', async () => {
    const { get } = await withMails(['Re: 1', 'Re: 2']);
    const { status, body } = await get('/inbox');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          channel: 'email',
          from: 'bold@example.com',
          to: 'Help@shop.mn',
          subject: 'Re: 2',
          text: 'Hello',
          received_at: '2026-03-02T01:01:00.000Z',
          waits_for_parts: false,
        },
        expect.objectContaining({ subject: 'Re: 1', received_at: '2026-03-02T01:00:00.000Z' }),
      ],
      next: null,
    });
  });

  it.each([
    [['inbox'], 200, true],
    [['read', 'inbox'], 200, true],
    [['read'], 200, false],
    [['send', 'read'], 200, false],
    [undefined, 200, false],
    [['send'], 403, false],
  ] as const)(
    'shows what people wrote to a key of the scope inbox alone: %o is %i, %s',
    async (scope, status, hasTexts) => {
      const { service, get } = await withMails(['Secret']);
      const { secret } = await service.administration.createKey(scope === undefined ? {} : { scope });
      const reply = await get('/inbox', secret);
      expect(reply.status).toBe(status);
      expect(JSON.stringify(reply.body).includes('Secret')).toBe(hasTexts);
      const fields = ['id', 'channel', 'from', 'to', ...(hasTexts ? ['subject', 'text'] : [])];
      if (status === 200)
        expect(Object.keys((reply.body.data as object[])[0] ?? {})).toEqual([
          ...fields,
          'received_at',
          'waits_for_parts',
        ]);
    },
  );

  it('gives pages by the last id, in either case', async () => {
    const { get } = await withMails(['1', '2', '3']);
    const first = await get('/inbox?limit=2');
    expect([subjectsOf(first), first.body.next]).toEqual([
      ['3', '2'],
      (first.body.data as InboxMessage[])[1]?.id,
    ]);
    const second = await get(`/inbox?limit=2&after=${`${first.body.next}`.toUpperCase()}`);
    expect([subjectsOf(second), second.body.next]).toEqual([['1'], null]);
  });

  it.each([
    ['channel=email', ['3', '2', '1']],
    ['channel=sms', []],
    ['since=2026-03-02T01:01:00Z', ['3', '2']],
    ['until=2026-03-02T01:01:00Z', ['1']],
    ['since=2026-03-02T01:01:00Z&until=2026-03-02T01:02:00Z&channel=email', ['2']],
    ['since=2027-01-01T00:00:00Z', []],
  ])('with %s shows %o', async (query, subjects) => {
    const { get } = await withMails(['1', '2', '3']);
    expect(subjectsOf(await get(`/inbox?${query}`))).toEqual(subjects);
  });

  it('ends a page of long texts before it is too long to read', async () => {
    const { get } = await withMails(['1', '2', '3'], 'x'.repeat(600_000));
    const pages = [await get('/inbox')];
    for (let next = pages[0]?.body.next; next; next = pages.at(-1)?.body.next)
      pages.push(await get(`/inbox?after=${next}`));
    expect(pages.map(subjectsOf)).toEqual([['3'], ['2'], ['1']]);
  });

  it('shows a project its own messages alone', async () => {
    const customer = await withMails(['1']);
    const { id } = await customer.service.administration.createProject('Other');
    const other = await customer.service.administration.project(id);
    const { secret = '' } = (await other?.createKey({ scope: ['inbox'] })) ?? {};
    const [mine] = (await customer.get('/inbox')).body.data as InboxMessage[];
    expect((await customer.get('/inbox', secret)).body).toEqual({ data: [], next: null });
    expect((await customer.get(`/inbox?after=${mine?.id}`, secret)).status).toBe(400);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['after=x', 'after'],
    ['after=11111111-1111-4111-8111-111111111111', 'after'],
    ['channel=fax', 'channel'],
    ['since=today', 'since'],
    ['until=1&until=2', 'until'],
    ['to=99112233', 'to'],
  ])('with %s is 400, and says what is wrong', async (query, name) => {
    const { get } = await newCustomer();
    const { status, error } = await get(`/inbox?${query}`);
    expect([status, error?.code, error?.message]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining(name),
    ]);
  });
});
