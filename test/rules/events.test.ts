import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EventPage } from '../../src/contract/index.js';
import { oneOnPostgres } from '../support/test-engine.js';
import { type Customer, newCustomer, type Reply } from './customer.js';

const pageOf = ({ body }: Reply) => body as unknown as EventPage;
const sms = (to: string) => ({ to, text: 'Hello' });

/** Answers a call that waits, while time passes. */
async function answered<Answer>({ clock }: Customer, call: Promise<Answer>): Promise<Answer> {
  let isAnswered = false;
  const done = call.finally(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    clock.advance(50);
    await setImmediate();
  }
  return done;
}

describe('GET /v1/events', () => {
  it('shows what happened since the first call, each with what GET shows, oldest first', async () => {
    const { get, post, idle } = await newCustomer();
    await post('/sms', sms('99112200'));
    const first = await get('/events');
    expect([first.status, pageOf(first).data]).toEqual([200, []]);
    expect(pageOf(first).next).toMatch(/^[0-9a-f]{12}-0$/);
    const { body: sent } = await post('/sms', sms('99112201'));
    await post('/sms', sms('99000001'));
    const { body: batch } = await post('/email/bulk', { to: ['a@b.mn', 'c@b.mn'], subject: 's', text: 't' });
    await idle();
    const { data, next } = pageOf(await get(`/events?after=${pageOf(first).next}`));
    expect(data.map(({ type }) => type)).toEqual([
      'message.sent',
      'message.failed',
      'message.sent',
      'message.sent',
      'batch.completed',
    ]);
    expect(data[0]).toEqual({
      id: next.replace(/\d+$/, '1'),
      type: 'message.sent',
      at: sent.sent_at,
      data: (await get(`/messages/${sent.id}`)).body,
    });
    expect(data[4]?.data).toEqual((await get(`/batches/${batch.id}`)).body);
    expect(data.at(-1)?.id).toBe(next);
    // The id of an event is the place behind it.
    expect(pageOf(await get(`/events?after=${data[3]?.id}`)).data).toEqual(data.slice(4));
    expect(pageOf(await get('/events')).data).toEqual(data);
    expect(pageOf(await get(`/events?after=${next}`))).toEqual({ data: [], next });
  });

  it('keeps to types, and goes on behind what it leaves out', async () => {
    const { get, post } = await newCustomer();
    const { next } = pageOf(await get('/events'));
    const ids = [];
    for (const to of ['99112201', '99000001', '99112202']) ids.push((await post('/sms', sms(to))).body.id);
    const page = pageOf(await get(`/events?after=${next}&types=message.sent,batch.completed&limit=1`));
    expect(page).toMatchObject({ data: [{ data: { id: ids[0] } }], next: next.replace(/0$/, '1') });
    const rest = pageOf(await get(`/events?after=${page.next}&types=message.sent`));
    expect(rest).toMatchObject({ data: [{ data: { id: ids[2] } }], next: next.replace(/0$/, '3') });
    expect(pageOf(await get(`/events?types=batch.completed`))).toEqual({ data: [], next: rest.next });
  });

  it('after=now skips all events so far, and begins to record them', async () => {
    const { get, post } = await newCustomer();
    const { next } = pageOf(await get('/events?after=now&wait=20'));
    for (const to of ['99112201', '99112202']) await post('/sms', sms(to));
    expect(pageOf(await get(`/events?after=${next}`)).data).toHaveLength(2);
    await post('/sms', sms('99112203'));
    const now = pageOf(await get('/events?after=now'));
    expect(now).toEqual({ data: [], next: next.replace(/0$/, '3') });
  });

  it('shows codes to nobody, and nothing that was erased since', async () => {
    const { get, post, service } = await newCustomer();
    await get('/events');
    await post('/verify', { to: '99112233' });
    expect(JSON.stringify(pageOf(await get('/events')))).toContain('99112233');
    await service.administration.prune({ to: '99112233' });
    const { data } = pageOf(await get('/events'));
    expect(data).toMatchObject([{ type: 'message.sent', data: { to: '' } }]);
    expect(Object.keys(data[0]?.data ?? {})).not.toContain('text');
  });

  it('waits for an event, at most as long as it was asked to', async () => {
    const customer = await newCustomer();
    const { get, post, clock } = customer;
    const { next } = pageOf(await get('/events'));
    const begun = clock.now();
    expect(pageOf(await answered(customer, get(`/events?after=${next}&wait=20`)))).toEqual({
      data: [],
      next,
    });
    expect(clock.now() - begun).toBeGreaterThanOrEqual(20_000);
    const waiting = get(`/events?after=${next}&wait=20&types=message.sent`);
    await post('/sms', sms('99000001'));
    const { body } = await post('/sms', sms('99112201'));
    expect(pageOf(await answered(customer, waiting)).data).toMatchObject([{ data: { id: body.id } }]);
  });

  it('is answered at once by an instance that is to end', async () => {
    const { get, service } = await newCustomer();
    const { next } = pageOf(await get('/events'));
    const waiting = get(`/events?after=${next}&wait=20`);
    await setImmediate();
    service.drain();
    expect(pageOf(await waiting)).toEqual({ data: [], next });
    expect(pageOf(await get(`/events?after=${next}&wait=20`))).toEqual({ data: [], next });
  });

  it('[Errors cursor_expired] is 410 behind a place of another line, of another project, and after a reset', async () => {
    const { get, post, service } = await newCustomer();
    const { id } = await service.administration.createProject('Other');
    const other = (await (await service.administration.project(id))?.createKey())?.secret;
    const { next } = pageOf(await get('/events'));
    await post('/sms', sms('99112201'));
    expect(pageOf(await get('/events', other)).data).toEqual([]);
    const expired = { status: 410, error: { code: 'cursor_expired' } };
    expect(await get(`/events?after=${next}`, other)).toMatchObject(expired);
    expect(await get('/events?after=0123456789ab-0')).toMatchObject(expired);
    expect(await get(`/events?after=${next.replace(/0$/, '2')}&wait=20`)).toMatchObject(expired);
    await service.administration.reset();
    expect(await get(`/events?after=${next}`)).toMatchObject(expired);
    expect(pageOf(await get('/events')).data).toEqual([]);
  });

  it('[Errors cursor_expired] records what happens after the answer', async () => {
    const { get, post, service } = await newCustomer();
    const { next } = pageOf(await get('/events'));
    await service.administration.reset();
    expect((await get(`/events?after=${next}`)).status).toBe(410);
    const { body } = await post('/sms', sms('99112201'));
    expect(pageOf(await get('/events')).data).toMatchObject([{ data: { id: body.id } }]);
  });

  it.each(
    oneOnPostgres([
      ['after=x', 'after'],
      ['after=11111111-1111-4111-8111-111111111111', 'after'],
      ['after=', 'after'],
      ['types=', 'types'],
      ['types=message.sent,', 'types'],
      ['types=message.*', 'types'],
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['wait=21', 'wait'],
      ['wait=1.5', 'wait'],
      ['wait=', 'wait'],
      ['since=2026-01-01T00:00:00Z', 'since'],
      ['wait=1&wait=2', 'wait'],
    ]),
  )('with %s is 400, names the field, and records nothing', async (query, name) => {
    const { get, post } = await newCustomer();
    const { status, error } = await get(`/events?${query}`);
    expect([status, error?.code]).toEqual([400, 'invalid_request']);
    expect(error?.message).toContain(name);
    await post('/sms', sms('99112201'));
    expect(pageOf(await get('/events')).data).toEqual([]);
  });
});
