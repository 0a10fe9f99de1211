import { expect, it, onTestFinished } from 'vitest';
import { Urtuu, type UrtuuError } from '../../src/client/index.js';
import { createService, type Service } from '../../src/service/index.js';
import { newDatabase } from '../support/postgres.js';
import { startRouter } from '../support/router.js';
import { testSecret } from '../support/test-engine.js';

interface Place {
  service: Service;
  url: string;
  keys: string[];
}

/** A service on a database of its own, with two keys of its project. */
async function newPlace(): Promise<Place> {
  const service = await createService({ database: await newDatabase(), secret: testSecret });
  onTestFinished(() => service.close());
  const { url } = await service.listen({ port: 0 });
  const { secret } = await service.administration.createKey();
  return { service, url, keys: [service.localKey, secret] };
}

/** Two installations behind a router by key, and a client for each key. */
async function newSites() {
  const places = [await newPlace(), await newPlace()] as const;
  const router = await startRouter(places.map(({ url, keys }) => ({ url: new URL(url).origin, keys })));
  onTestFinished(() => router[Symbol.asyncDispose]());
  const clientOf = (key = '') => new Urtuu(key, { baseUrl: `${router.url}/v1` });
  return { places, clientOf, clients: places.map(({ keys }) => clientOf(keys[0])) as [Urtuu, Urtuu] };
}

const message = { to: '99112233', text: 'Hello' };
const email = { to: ['bat@example.mn', 'dorj@example.mn'], subject: 'News', text: 'Hello' };

async function outboxOf({ service }: Place): Promise<string[]> {
  const found: string[] = [];
  for await (const { to } of service.administration.outbox()) found.push(to);
  return found;
}

const failure = (call: Promise<unknown>): Promise<UrtuuError> =>
  call.then(
    () => Promise.reject(new Error('it succeeded')),
    (error) => error,
  );

it('projects in two databases behind a router by key share nothing, not even an idempotency key', async () => {
  const { places, clients } = await newSites();
  const options = { idempotencyKey: 'july' };
  const first = await Promise.all(clients.map((client) => client.sms.send(message, options)));
  expect(first[0]?.id).not.toBe(first[1]?.id);
  const again = await Promise.all(clients.map((client) => client.sms.send(message, options)));
  expect(again.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
  for (const [index, client] of clients.entries()) {
    const { balance } = await client.balance.get();
    expect(balance).toBe(first[index]?.balance);
    const { data } = await client.messages.list();
    expect(data.map(({ id }) => id)).toEqual([first[index]?.id]);
    expect(await outboxOf(places[index] as Place)).toEqual(['99112233']);
  }
});

it('every key of a project finds what another key of it has sent, and no other project does', async () => {
  const { places, clients, clientOf } = await newSites();
  const [one, other] = clients;
  const colleague = clientOf(places[0].keys[1]);
  const { id } = await one.sms.send(message, { idempotencyKey: 'july' });
  const batch = await one.email.sendBulk(email);
  expect(await colleague.messages.get(id)).toMatchObject({ id, to: '99112233' });
  expect((await colleague.sms.send(message, { idempotencyKey: 'july' })).id).toBe(id);
  expect((await colleague.batches.get(batch.id)).total).toBe(2);
  expect(await failure(other.messages.get(id))).toMatchObject({ code: 'not_found' });
  expect(await failure(other.batches.get(batch.id))).toMatchObject({ code: 'not_found' });
  const verification = await one.verify.create({ to: '88112233' });
  expect(await failure(other.verify.get(verification.id))).toMatchObject({ code: 'not_found' });
  expect(await outboxOf(places[1])).toEqual([]);
});

it('a key that the directory does not know is refused as by one service', async () => {
  const { clientOf } = await newSites();
  const stranger = clientOf(`urtuu_${'A'.repeat(40)}`);
  expect(await failure(stranger.sms.send(message))).toMatchObject({ status: 401 });
});
