import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Core } from '../../../src/service/core.js';
import { answerUnsubscribing } from '../../../src/service/dashboard/unsubscribe.js';
import { createService } from '../../../src/service/index.js';
import { Cores, caller } from '../../support/cores.js';
import { verifyDkim } from '../../support/dkim.js';
import { testFolder } from '../../support/folders.js';
import { Relay } from '../../support/relay.js';
import { testEngine } from '../../support/test-engine.js';

const publicUrl = 'https://sms.example.mn';
const oneClick = 'List-Unsubscribe=One-Click';
const form = 'application/x-www-form-urlencoded';
const multipart = (value: string) =>
  `--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\n${value}\r\n--b--\r\n`;

describe('a link to unsubscribe', () => {
  let cores: Cores;
  let core: Core;
  beforeEach(async () => {
    cores = new Cores();
    core = await cores.open();
  });
  afterEach(() => cores.closeAll());

  const linkOf = (to: string, of = core, projectId = caller.projectId) =>
    of.tokens.addressAt(publicUrl, projectId)(to);
  const ask = (address: string, init: RequestInit = {}, of = core) => {
    const parts = { ...of.context, tokens: of.tokens, report: (error: unknown) => of.report(error) };
    const request = new Request(address, init);
    return answerUnsubscribing(parts)(request, async () => Buffer.from(await request.arrayBuffer()));
  };
  const press = (address: string, body = oneClick, type = form, of = core) =>
    ask(address, { method: 'POST', body, headers: { 'content-type': type } }, of);
  const suppressed = async (projectId = caller.projectId) => {
    const project = await core.administration.project(projectId);
    return (await project?.suppressions.list())?.data.map(({ to, reason }) => `${to} ${reason}`);
  };

  it('unsubscribes by its form, in whatever form, and repeatedly', async () => {
    const before = core.store;
    const writes = vi.spyOn(before, 'suppress');
    for (const [body, type] of [
      [oneClick, form],
      [`${oneClick}&x=1`, form],
      [multipart('One-Click'), 'multipart/form-data; boundary=b'],
    ] as const) {
      const answer = await press(linkOf('Bold@Example.com'), body, type);
      expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
      expect(await suppressed()).toEqual(['bold@example.com opt_out']);
    }
    expect(writes).toHaveBeenCalledTimes(1);
  });

  it.each<[string, number, RequestInit]>([
    ['a visit', 200, {}],
    ['a look', 200, { method: 'HEAD' }],
    [
      'a form without its field',
      400,
      { method: 'POST', body: 'List-Unsubscribe=Two', headers: { 'content-type': form } },
    ],
    [
      'a form of another field',
      400,
      { method: 'POST', body: `x${oneClick}`, headers: { 'content-type': form } },
    ],
    ['another part', 400, { method: 'POST', body: multipart('No') }],
    ['nothing', 400, { method: 'POST' }],
    ['another method', 405, { method: 'PUT', body: oneClick }],
  ])('changes nothing for %s', async (_, status, init) => {
    const answer = await ask(linkOf('bold@example.com'), init);
    expect([answer.status, await suppressed()]).toEqual([status, []]);
    expect(await answer.text()).toContain('<form method="post">');
  });

  it('is of one project, which keeps its others', async () => {
    const { id } = await core.administration.createProject('Other');
    await press(linkOf('bold@example.com', core, id));
    expect([await suppressed(), await suppressed(id)]).toEqual([[], ['bold@example.com opt_out']]);
  });

  it('is none in part, in other letters, of another service or of a project that is not there', async () => {
    const address = linkOf('bold@example.com');
    const end = address.at(-1) === 'A' ? 'B' : 'A';
    const other = await cores.open({ directory: cores.folder(), secret: new Uint8Array(32).fill(9) });
    const wrong = [
      ...Array.from({ length: 12 }, (_, index) => {
        const at = publicUrl.length + 3 + index * 9;
        return address.slice(0, at) + (address[at] === 'x' ? 'y' : 'x') + address.slice(at + 1);
      }),
      ...[address.slice(0, -1) + end, address.slice(0, -1), `${address}A`, `${address}=`, `${address}/`],
      ...[`${publicUrl}/u/`, `${publicUrl}/u/x/y`, `${publicUrl}/u/%00`, address.toLowerCase()],
      linkOf('bold@example.com', other),
      linkOf('bold@example.com', core, '00000000-0000-7000-8000-00000000ffff'),
    ];
    for (const each of wrong) {
      const answer = await press(each);
      expect([each, answer.status]).toEqual([each, 404]);
      expect(await answer.text()).toContain('This link does not work');
    }
    expect(await suppressed()).toEqual([]);
  });

  it('works after a prune and on another instance, and is the same in every attempt', async () => {
    const directory = cores.folder();
    const [first, second] = [await cores.open({ directory }), await cores.open({ directory })];
    const address = linkOf('bold@example.com', first);
    expect(linkOf('BOLD@example.com', second)).toBe(address);
    await first.administration.prune({ to: 'bold@example.com' });
    expect((await press(address, oneClick, form, second)).status).toBe(200);
    expect((await first.administration.suppressions.list()).data).toMatchObject([{ reason: 'opt_out' }]);
  });

  it('leads to a page in the language of its reader, that runs nothing and gives nothing away', async () => {
    await core.administration.settings.update({ brand_name: '<b>Номин' });
    const address = linkOf('bold@example.com');
    const answer = await ask(address);
    const text = await answer.text();
    expect(text).toContain('Stop bulk emails from &lt;b&gt;Номин to b…@example.com?');
    expect(text).not.toMatch(/<script|bold@|http/);
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    for (const [name, value] of [
      ['cache-control', 'no-store'],
      ['referrer-policy', 'no-referrer'],
      ['x-frame-options', 'DENY'],
    ] as const)
      expect(answer.headers.get(name)).toBe(value);
    for (const mongolian of [
      await ask(address, { headers: { 'accept-language': 'mn-MN, en' } }),
      await ask(`${address}?language=mn`),
    ])
      expect(await mongolian.text()).toMatch(/<html lang="mn">.*Захиалга цуцлах/s);
    const style = /href="([^"]+\.css)"/.exec(text)?.[1] ?? '';
    const sheet = await ask(publicUrl + style);
    expect([sheet.status, sheet.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
  });

  it('asks to try again while the store is away', async () => {
    const address = linkOf('bold@example.com');
    const report = vi.fn();
    const store = { ...core.store, findSuppressions: () => Promise.reject(new Error('away')) };
    const answer = await answerUnsubscribing({ ...core.context, store, tokens: core.tokens, report })(
      new Request(address, { method: 'POST' }),
      async () => Buffer.from(oneClick),
    );
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    expect(report).toHaveBeenCalledTimes(1);
  });
});

describe('list_unsubscribe: hosted', () => {
  async function open() {
    const relay = new Relay();
    const smtp = `smtp://127.0.0.1:${await relay.listen()}`;
    const directory = testFolder();
    const file = join(directory, 'service.json');
    writeFileSync(file, JSON.stringify({ sms: 'simulated', email: { smtp, from: 'no-reply@example.mn' } }));
    const engine = await testEngine();
    const service = await createService({
      configuration: { file, environment: {} },
      rates: 'off',
      ...engine.options,
    });
    onTestFinished(async () => {
      await service.close();
      await relay.close();
      engine.release();
    });
    const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const answer = await service.fetch(`http://embedded.invalid/v1/${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.localKey}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(202);
    };
    const link = (index: number) =>
      /^List-Unsubscribe: <(.*)>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m.exec(
        relay.taken[index]?.raw ?? '',
      )?.[1];
    return { service, relay, directory, send, link };
  }
  const content = { subject: 'Hi', text: 'Hi' };

  it('is refused without a public URL, which must be https', async () => {
    const { service } = await open();
    const set = () => service.administration.settings.update({ list_unsubscribe: 'hosted' });
    await expect(set()).rejects.toThrow('list_unsubscribe: hosted needs a public URL');
    await service.listen({ port: 0, dashboard: { publicUrl: 'http://localhost:1' } });
    await expect(set()).rejects.toThrow('--public-url');
    await service.listen({ port: 0, dashboard: { publicUrl } });
    expect(await set()).toMatchObject({ list_unsubscribe: 'hosted' });
    // One that is started without it changes nothing.
    await service.listen({ port: 0, dashboard: { publicUrl: null } });
    expect(await set()).toMatchObject({ list_unsubscribe: 'hosted' });
  });

  it('puts a signed link into bulk emails alone, and one click suppresses', async () => {
    const { service, relay, directory, send, link } = await open();
    const { url } = await service.listen({ port: 0, dashboard: { publicUrl } });
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const key = join(directory, 'dkim.pem');
    writeFileSync(key, privateKey, { mode: 0o600 });
    await service.administration.settings.update({
      list_unsubscribe: 'hosted',
      own_domain: { domain: 'shop.mn', selector: 'm', key_file: key },
    });
    await send('email/bulk', { to: ['a@example.com'], ...content });
    await vi.waitFor(() => expect(relay.taken).toHaveLength(1));
    await send('email', { to: 'b@example.com', ...content }, { 'Urtuu-Class': 'bulk' });
    await vi.waitFor(() => expect(relay.taken).toHaveLength(2));
    await send('email', { to: 'c@example.com', ...content });
    await vi.waitFor(() => expect(relay.taken).toHaveLength(3));
    expect([link(0)?.startsWith(`${publicUrl}/u/`), link(2)]).toEqual([true, undefined]);
    expect(relay.taken[2]?.raw).not.toContain('List-Unsubscribe');
    const [signed] = relay.taken.map(({ raw }) => raw);
    expect(verifyDkim(signed ?? '', publicKey)).not.toHaveProperty('problem');
    expect(signed).toMatch(/h=[^;]*List-Unsubscribe:List-Unsubscribe-Post/i);
    const path = new URL(link(1) ?? '').pathname;
    const init = { method: 'POST', body: oneClick, headers: { 'content-type': form } };
    const answer = await fetch(new URL(path, url), { ...init, redirect: 'manual' });
    expect(answer.status).toBe(200);
    const large = { ...init, body: `${oneClick}&${'x'.repeat(5_000)}` };
    expect((await fetch(new URL(new URL(link(0) ?? '').pathname, url), large)).status).toBe(413);
    const { data } = await service.administration.suppressions.list();
    expect(data).toMatchObject([{ to: 'b@example.com', reason: 'opt_out' }]);
  });
});
