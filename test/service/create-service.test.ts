import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import { openCore } from '../../src/service/core.js';
import { createService, ManualClock, type Service, type ServiceOptions } from '../../src/service/index.js';
import type { Store } from '../../src/service/storage/store.js';
import { testFolder } from '../support/folders.js';

const opened: Service[] = [];

async function open(options: ServiceOptions = {}): Promise<Service> {
  const service = await createService(options);
  opened.push(service);
  return service;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((service) => service.close()));
});

async function call(service: Service, method: string, path: string, body?: unknown, key = service.localKey) {
  const response = await service.fetch(`http://service.test/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('a service that drains', () => {
  it('takes no message of a batch, new or waiting; singles go out, and the next start sends the rest', async () => {
    const directory = testFolder();
    const clock = new ManualClock(Date.UTC(2026, 10, 28));
    const draining = await createService({ directory, clock, rates: 'off' });
    const { administration } = draining;
    const bulk = (to: string[]) => call(draining, 'POST', '/sms/bulk', { to, text: 'Hello' });
    for (const { lane } of await administration.listLanes())
      await administration.setLaneStatus(lane, 'paused');
    const sent = async (of: Pick<Service, 'administration'>) => {
      const all = [];
      for await (const { to } of of.administration.outbox()) all.push(to);
      return all.sort();
    };
    expect((await bulk(['99112201', '99112202'])).status).toBe(202);
    draining.drain();
    for (const { lane } of await administration.listLanes()) await administration.setLaneStatus(lane, 'open');
    expect((await bulk(['99112203', '99112204'])).status).toBe(202);
    for (let poll = 0; poll < 5; poll += 1) {
      clock.advance(1_000);
      expect((await call(draining, 'POST', '/sms', { to: `9911221${poll}`, text: 'Hello' })).status).toBe(
        200,
      );
    }
    expect(await sent(draining)).toEqual(['0', '1', '2', '3', '4'].map((each) => `9911221${each}`));
    await draining.close();
    const next = await open({ directory, rates: 'off' });
    await next.administration.idle();
    expect(await sent(next)).toHaveLength(9);
  });
});

describe('createService', () => {
  it('opens no data with settings that break a rule', async () => {
    const directory = join(testFolder(), 'data');
    const settings = { caps: { per_10_minutes: 0 } };
    await expect(createService({ directory, settings })).rejects.toThrow(
      'settings.caps.per_10_minutes: must be a whole number from 1 to 20',
    );
    expect(existsSync(directory)).toBe(false);
  });

  it.each([undefined, null, {}])('opens with the settings %j, which override nothing', async (settings) => {
    const { administration } = await open({ settings } as ServiceOptions);
    expect(await administration.settings.get()).toMatchObject({ brand_name: null });
  });

  it('closes data whose first project cannot be made', async () => {
    let opened: Store | undefined;
    const full = async () => {
      throw new Error('the disk is full');
    };
    const store = (inner: Store): Store => {
      opened = inner;
      return { ...inner, createProject: full };
    };
    await expect(openCore({}, { store })).rejects.toThrow('the disk is full');
    await expect(opened?.renameProject('any', 'Other')).rejects.toThrow('the store is closed');
  });

  it('keeps its data, keys and balance in its folder', async () => {
    const directory = testFolder();
    const first = await open({ directory });
    const { secret } = await first.administration.createKey();
    const sent = await call(first, 'POST', '/sms', { to: '99112233', text: 'Hello' }, secret);
    await first.close();

    const second = await open({ directory });
    const read = await call(second, 'GET', `/messages/${sent.body.id}`, undefined, secret);
    expect(read).toMatchObject({ status: 200, body: { id: sent.body.id, status: 'sent' } });
    expect((await call(second, 'GET', '/balance')).body).toEqual({ balance: 99_990 });
  });

  it('breaks requests on demand: sent, but the connection is dropped; the repeat is answered', async () => {
    const service = await open();
    const { url } = await service.listen({ port: 0 });
    const request = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.localKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      },
      body: JSON.stringify({ to: '99000012', text: 'Hello' }),
    };
    await expect(fetch(`${url}/sms`, request)).rejects.toThrow();
    const repeat = await fetch(`${url}/sms`, request);
    expect(repeat.status).toBe(200);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect((await call(service, 'GET', '/balance')).body).toEqual({ balance: 99_990 });
  });

  it('breaks a request once for a key, whatever process it reaches, until a reset by any of them', async () => {
    const directory = testFolder();
    const one = await open({ directory });
    const other = await open({ directory });
    const secret = (await one.administration.createKey()).secret;
    const statusOf = async (service: Service) => {
      const response = await service.fetch('http://service.test/v1/sms', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'idempotency-key': 'k',
        },
        body: JSON.stringify({ to: '99000013', text: 'Hi' }),
      });
      return response.status;
    };
    expect([await statusOf(one), await statusOf(other), await statusOf(one)]).toEqual([500, 200, 200]);
    await other.administration.reset();
    expect([await statusOf(one), await statusOf(other)]).toEqual([500, 200]);
  });

  it('close() answers what has arrived, without waiting for a slow operator', async () => {
    // The time that the operator takes never passes.
    const service = await open({ clock: new ManualClock() });
    const { url } = await service.listen({ port: 0 });
    const headers = { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ to: '99000005', text: 'Hello' });
    const slow = fetch(`${url}/sms`, { method: 'POST', headers, body });
    for (let sent = false; !sent; ) {
      for await (const _ of service.administration.outbox()) sent = true;
      await new Promise(setImmediate);
    }
    const [response] = await Promise.all([slow, service.close()]);
    expect(response.status).toBe(200);
  });

  it('says what to install when the SQLite engine is missing', async () => {
    const outfile = join(testFolder(), 'service.cjs');
    await build({
      entryPoints: ['src/service/index.ts'],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      external: ['@photostructure/sqlite'],
      logLevel: 'error',
    });
    const script = `process.getBuiltinModule = undefined;
      require(${JSON.stringify(outfile)}).createService().catch((e) => console.log(e.message))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);
    expect(stdout).toContain('npm install @photostructure/sqlite');
  });
});
