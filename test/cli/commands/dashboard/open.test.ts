import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { FetchLike } from '../../../../src/client/index.js';
import { createService, type Service } from '../../../../src/service/index.js';
import { fileFolder } from '../../../support/folders.js';
import { run, type Setting } from '../../../support/run.js';

const home = fileFolder();
let opened: string[];
beforeEach(() => {
  opened = [];
});

const here = (line: string, setting: Setting = {}) =>
  run(line, {
    home,
    cwd: home,
    env: {},
    fetch: fetch as FetchLike,
    async openInBrowser(file) {
      opened.push(file);
      return true;
    },
    ...setting,
  });

async function serve(publicUrl: string | null = null): Promise<Service> {
  const service = await createService({ directory: join(home, 'data') });
  onTestFinished(() => service.close());
  await service.listen({ port: 0, dashboard: { publicUrl } });
  return service;
}

it('prints a link that signs in once, and opens nothing without a terminal', async () => {
  await serve();
  const { code, stdout } = await here('dashboard --data data --json');
  expect(code).toBe(0);
  const { url } = JSON.parse(stdout);
  expect(opened).toEqual([]);
  const { origin, searchParams } = new URL(url);
  const use = () =>
    fetch(`${origin}/dashboard/sign-in`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ token: searchParams.get('token') ?? '' }),
      redirect: 'manual',
    });
  expect((await use()).status).toBe(303);
  expect((await use()).status).toBe(403);
});

it('prints a link to all projects, one that only looks too, for nobody who wants one of them', async () => {
  await serve();
  const { stdout } = await here('dashboard --all-projects --data data --json');
  expect(new URL(JSON.parse(stdout).url).searchParams.get('token')).toMatch(/^all\.send\.[\w-]{32}$/);
  const looks = await here('dashboard --read-only --all-projects --data data --json');
  expect(new URL(JSON.parse(looks.stdout).url).searchParams.get('token')).toMatch(/^all\.look\.[\w-]{32}$/);
  const both = await here('dashboard --all-projects --project Shop --data data');
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be combined') });
});

it('lists sessions and links with the keys made there, and ends them: the keys are named', async () => {
  const service = await serve();
  await here('dashboard sessions --data data --end all');
  const { url } = JSON.parse((await here('dashboard --data data --json')).stdout);
  const { origin, searchParams } = new URL(url);
  const post = (path: string, body: Record<string, string>, cookie = '') =>
    fetch(`${origin}/dashboard${path}`, {
      method: 'POST',
      headers: { origin, cookie },
      body: new URLSearchParams(body),
      redirect: 'manual',
    });
  const signedIn = await post('/sign-in', { token: searchParams.get('token') ?? '' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await post('/keys', { label: 'Cron' }, cookie)).status).toBe(303);
  await here('dashboard --data data');
  const list = async () => JSON.parse((await here('dashboard sessions --data data --json')).stdout);
  const key = (await service.administration.listKeys()).find(({ label }) => label === 'Cron');
  const [link, session] = await list();
  expect(link).toMatchObject({ kind: 'link', project: 'Default', keys: [] });
  expect(session).toMatchObject({ kind: 'session', keys: [key?.prefix] });
  expect(key?.created_by).toBe(session.id);
  expect(JSON.parse((await here('keys list --data data --json')).stdout)).toContainEqual(
    expect.objectContaining({ label: 'Cron', created_by: session.id }),
  );
  const ended = await here(`dashboard sessions --data data --end ${session.id.toUpperCase()}`);
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(`${key?.prefix}`) });
  expect((await post('/keys', { label: 'Later' }, cookie)).status).toBe(401);
  expect(await list()).toEqual([link]);
  expect(await here(`dashboard sessions --data data --end ${session.id}`)).toMatchObject({ code: 12 });
  expect(await here('dashboard sessions --data data --end all')).toMatchObject({
    code: 0,
    stderr: 'Ended 1 session or link.\n',
  });
  for (const line of [
    'dashboard --end all',
    'dashboard sessions --all-projects',
    'dashboard sessions --read-only',
    'dashboard session',
  ])
    expect(await here(`${line} --data data`)).toMatchObject({ code: 2 });
});

it('on a terminal opens it, by way of a private file', async () => {
  await serve();
  const { code, stdout, stderr } = await here('dashboard --data data', { terminal: 80 });
  expect(code).toBe(0);
  expect(stderr).toContain('works once, within 10 minutes');
  expect(opened).toHaveLength(1);
  const [file = ''] = opened;
  expect(stdout).toContain(/url=([^"]+)/.exec(readFileSync(file, 'utf8'))?.[1]);
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  await here('dashboard --data data --no-open', { terminal: 80 });
  expect(opened).toHaveLength(1);
});

it('signs in to the project that is named', async () => {
  const { administration } = await serve();
  await administration.createProject('Shop');
  expect(await here('dashboard --data data --project Shop')).toMatchObject({ code: 0 });
  expect(await here('dashboard --data data --project Nobody')).toMatchObject({ code: 12 });
});

it.each([
  ['that never ran', async () => createService({ directory: join(home, 'other') }), 'other'],
  ['that stopped', serve, 'data'],
])('of a service %s says how to start it, and prints no link', async (_, begin, folder) => {
  await (await begin()).close();
  const { code, stdout, stderr } = await here(`dashboard --data ${folder}`);
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
  expect(stderr).toContain('urtuu serve');
});

it('prints no link to the service that a restored backup came from', async () => {
  await serve();
  expect(await here('service backup b1 --data data')).toMatchObject({ code: 0 });
  expect(await here('service restore b1 --data rehearsal --yes')).toMatchObject({ code: 0 });
  for (const folder of ['rehearsal', 'b1'])
    expect(await here(`dashboard --data ${folder}`)).toMatchObject({ code: 5, stdout: '' });
  expect(await here('dashboard --data data')).toMatchObject({ code: 0 });
});

it('warns where the public address does not answer from here', async () => {
  await serve('https://sms.example.invalid');
  const away: FetchLike = () => Promise.reject(new Error('no route'));
  const { code, stdout, stderr } = await here('dashboard --data data', { fetch: away });
  expect(code).toBe(0);
  expect(stdout).toContain('https://sms.example.invalid/dashboard/sign-in?token=');
  expect(stderr).toContain('No dashboard answers at https://sms.example.invalid from here');
});

it('prints the link where only the certificate is unknown here', async () => {
  await serve();
  const code = 'DEPTH_ZERO_SELF_SIGNED_CERT';
  const unknown: FetchLike = () => Promise.reject(Object.assign(new Error('self-signed'), { code }));
  const result = await here('dashboard --data data', { fetch: unknown });
  expect(result.code).toBe(0);
  expect(result.stdout).toContain('/dashboard/sign-in?token=');
  expect(result.stderr).toContain('from here: its certificate is self-signed');
});

it('prints no link to a service that runs without its dashboard', async () => {
  const service = await serve();
  const { code, stdout, stderr } = await here('dashboard --data data', {
    fetch: async (url) => {
      const answer = await service.fetch(url);
      return answer as Awaited<ReturnType<FetchLike>>;
    },
  });
  expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
  expect(stderr).toContain('HTTP 404');
});

it('keeps the token from a program that has the port now', async () => {
  await serve();
  const seen: string[] = [];
  const other: FetchLike = async (url) => {
    seen.push(String(url));
    return new Response('hello');
  };
  const { stdout } = await here('dashboard --data data --json', { fetch: other });
  const token = new URL(JSON.parse(stdout).url).searchParams.get('token') ?? '';
  expect(token).not.toBe('');
  expect(seen).toEqual([expect.stringMatching(/\/dashboard\/sign-in$/)]);
  expect(seen.join()).not.toContain(token);
});

it.each([
  ['--host 0.0.0.0 --public-url https://sms.example.mn', /Add --dashboard/],
  ['--host 192.0.2.1 --dashboard', /needs --public-url/],
  ['--public-url http://sms.example.mn', /cannot be used/],
  ['--public-url https://sms.example.mn/sms', /without a path/],
  ['--public-url sms.example.mn', /cannot be used/],
  ['--no-dashboard --public-url https://sms.example.mn', /which is off/],
])('urtuu serve %s is a usage error', async (flags, said) => {
  const { code, stderr } = await here(`serve ${flags}`);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(said) });
});
