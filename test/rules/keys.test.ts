import { describe, expect, it } from 'vitest';
import { newCustomer } from './customer.js';

describe('Authentication', () => {
  it('[Authentication 1] [Errors unauthorized] a request without a valid key is 401, whatever is wrong', async () => {
    const { service, get } = await newCustomer();
    const { secret } = await service.administration.createKey();
    const flipped = secret.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const answers = new Set<string>();
    for (const apiKey of ['', 'nobody', flipped, `${secret}A`, secret.toLowerCase()]) {
      const { status, error } = await get('/balance', apiKey);
      answers.add(`${status} ${JSON.stringify(error)}`);
    }
    const bare = await service.fetch('http://service.test/v1/balance');
    answers.add(`${bare.status} ${JSON.stringify(((await bare.json()) as { error: object }).error)}`);
    expect([...answers]).toEqual([expect.stringMatching(/^401 \{"code":"unauthorized"/)]);
    expect((await get('/balance', secret)).status).toBe(200);
  });

  it('[Authentication 2] [Limits sizes] a project has at most 10 active keys', async () => {
    const { service } = await newCustomer();
    const { administration } = service;
    const keys = [];
    for (let made = 0; made < 10; made += 1) keys.push(await administration.createKey());
    await expect(administration.createKey()).rejects.toMatchObject({ code: 'invalid_request' });
    await administration.revokeKey(keys[0]?.id ?? '');
    await administration.createKey();
    await expect(administration.createKey()).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('[Errors forbidden] a key of one scope is 403 elsewhere, and an expired one is 401 and makes room', async () => {
    const { service, clock, post, get } = await newCustomer();
    const { administration } = service;
    const expires_at = new Date(clock.now() + 90_000).toISOString();
    const reader = await administration.createKey({ scope: ['read'], expires_at });
    const sender = (await administration.createKey({ scope: ['send'] })).secret;
    const sms = { to: '99112233', text: 'Hello' };
    const refused = await post('/sms', sms, { apiKey: reader.secret });
    expect(refused).toMatchObject({ status: 403, error: { code: 'forbidden' } });
    expect(await get('/messages', sender)).toMatchObject({ status: 403, error: { code: 'forbidden' } });
    expect((await post('/sms', sms, { apiKey: sender })).status).toBe(200);
    expect((await get('/balance', reader.secret)).body).toEqual({ balance: 99_990 });

    for (let made = 0; made < 8; made += 1) await administration.createKey();
    await expect(administration.createKey()).rejects.toMatchObject({ code: 'invalid_request' });
    clock.advance(90_000);
    expect(await get('/balance', reader.secret)).toMatchObject({
      status: 401,
      error: { code: 'unauthorized' },
    });
    expect(await administration.createKey()).toMatchObject({ expires_at: null });
    expect((await administration.listKeys())[0]).toMatchObject({ scope: ['read'], expires_at });
    const past = new Date(clock.now()).toISOString();
    for (const wrong of [past, 'soon'])
      await expect(administration.createKey({ expires_at: wrong })).rejects.toMatchObject({
        code: 'invalid_request',
      });
  });

  it('[Authentication 2] [Authentication 3] what belongs to a project is not there for another', async () => {
    const { service, post, get } = await newCustomer();
    const { id } = await service.administration.createProject('Other');
    const other = (await (await service.administration.project(id))?.createKey())?.secret ?? '';
    const sms = await post('/sms', { to: '99112233', text: 'Hello' });
    const batch = await post('/sms/bulk', { to: ['99112233'], text: 'Hello' });
    const verification = await post('/verify', { to: '99112233' });
    const paths = [
      `/messages/${sms.body.id}`,
      `/batches/${batch.body.id}`,
      `/batches/${batch.body.id}/messages`,
      `/verify/${verification.body.id}`,
    ];
    for (const path of paths) {
      expect((await get(path)).status).toBe(200);
      expect(await get(path, other)).toMatchObject({ status: 404, error: { code: 'not_found' } });
    }
    const check = await post(`/verify/${verification.body.id}/check`, { code: '000000' }, { apiKey: other });
    expect(check.status).toBe(404);
    expect((await get('/balance', other)).body).toEqual({ balance: 100_000 });
  });

  it('[Authentication 4] a key has its form, is shown once, and ends when it is revoked', async () => {
    const { service, get } = await newCustomer();
    const { administration } = service;
    const { id, secret } = await administration.createKey();
    expect(secret).toMatch(/^urtuu_[0-9A-Za-z]{40}$/);
    expect(JSON.stringify(await administration.listKeys())).not.toContain(secret.slice(6));
    expect((await get('/balance', secret)).status).toBe(200);
    expect(await administration.revokeKey(id)).toBe(true);
    expect((await get('/balance', secret)).status).toBe(401);
    expect(await administration.revokeKey(id)).toBe(false);
  });
});
