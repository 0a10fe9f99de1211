import { expect, it } from 'vitest';
import { openDashboard } from './open.js';

it('smoke', async () => {
  const { get, signIn, call } = await openDashboard();
  const { id } = await call('/sms', { to: '99112233', text: 'Сайн уу' });
  const cookie = await signIn();
  for (const path of [
    '',
    '/messages',
    `/messages/${id}`,
    '/batches',
    '/outbox',
    '/balance',
    '/keys',
    '/settings',
    '/settings/prices',
  ]) {
    const answer = await get(path, cookie);
    console.log(path, answer.status, (await answer.text()).length);
  }
  console.log(await (await get('', cookie)).text());
  expect(1).toBe(1);
});
