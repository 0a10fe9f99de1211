import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Machine, outcomeOf, printed, root } from '../support/binary.js';
import { startBrowser } from '../support/browser.js';

/** The steps of the README, which this follows with the real command and a real browser. */
const steps = /^## Your service\n([\s\S]*?)^## /m.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1];

it('a link signs in, a cap is changed, and a send is seen in the outbox without a reload', async () => {
  for (const word of ['urtuu serve', 'urtuu dashboard', 'Sign in', 'Settings', 'Save', 'Outbox'])
    expect(steps).toContain(word);
  const machine = new Machine();
  const data = join(machine.home, 'data');
  const service = machine.start([
    'serve',
    '--drain-time',
    '0',
    '--data',
    data,
    '--port',
    '0',
    '-o',
    'ndjson',
  ]);
  const ended = outcomeOf(service);
  const [line, { browser, stop }] = await Promise.all([printed(service, 'stdout', /\n/), startBrowser()]);
  try {
    const { base_url, api_key } = JSON.parse(line);
    const env = { URTUU_BASE_URL: base_url, URTUU_API_KEY: api_key };
    const opened = await machine.run(['dashboard', '--data', data, '--no-open', '--json']);
    expect(opened.code).toBe(0);
    const page = await browser.newPage({ locale: 'en-US' });
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (line) => line.type() === 'error' && wrong.push(line.text()));
    await page.goto(JSON.parse(opened.stdout).url);
    await page.click('main button');
    await page.click('nav >> text=Settings');
    await page.fill('#per_10_minutes', '1');
    await page.click('text=Save');
    expect(await page.textContent('.notice')).toContain('Saved.');
    await page.click('nav >> text=Outbox');
    await page.locator('.live:not([hidden])').waitFor();
    await page.evaluate('window.isSamePage = true');
    const first = await machine.run(['sms', 'send', '99112233', 'Сайн уу <b>Бат</b>', '--json'], { env });
    expect(first.code).toBe(0);
    await page.locator('.outbox >> text=Сайн уу <b>Бат</b>').waitFor();
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    // The cap holds from the next send on.
    const second = await machine.run(['sms', 'send', '99112233', 'Again', '--json'], { env });
    expect(second).toMatchObject({ code: 5, stderr: expect.stringContaining('recipient') });
    await page.click('.outbox header a');
    expect(await page.textContent('.state')).toContain('Sent');
    await page.click('text=Sign out');
    expect(await page.textContent('h1')).toBe('You are signed out');
    expect(wrong).toEqual([expect.stringContaining('401')]);
  } finally {
    service.kill('SIGTERM');
    await Promise.all([stop(), ended]);
    machine.remove();
  }
}, 60_000);

it('a form that was sent as the service was killed is asked about again, and has sent one message', async () => {
  const machine = new Machine();
  const data = join(machine.home, 'data');
  const serve = async () => {
    const service = machine.start(['serve', '--data', data, '--port', '0', '-o', 'ndjson']);
    const address = new URL(JSON.parse(await printed(service, 'stdout', /\n/)).base_url).origin;
    return { service, address, ended: outcomeOf(service) };
  };
  const before = await serve();
  const { stdout } = await machine.run(['dashboard', '--data', data, '--json']);
  const token = new URL(JSON.parse(stdout).url).searchParams.get('token') ?? '';
  const post = (origin: string, path: string, fields: Record<string, string>, cookie = '') =>
    fetch(origin + path, {
      method: 'POST',
      headers: { origin, cookie },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
  const signedIn = await post(before.address, '/dashboard/sign-in', { token });
  // Of a port of its own.
  const value = signedIn.headers.get('set-cookie')?.split(';')[0]?.split('=')[1] ?? '';
  const cookieAt = (address: string) => `urtuu_session_${new URL(address).port}=${value}`;
  const opened = await fetch(`${before.address}/dashboard/send`, {
    headers: { cookie: cookieAt(before.address) },
    redirect: 'manual',
  });
  const form = opened.headers.get('location') ?? '';
  // The operator answers after ten seconds.
  const fields = { channel: 'sms', to: '99000004', text: 'Once', price: '10', do: 'send' };
  const lost = post(before.address, form, fields, cookieAt(before.address)).then(
    () => 'answered',
    () => 'lost',
  );
  const isAccepted = async () => {
    const list = await machine.run(['sandbox', 'outbox', '--data', data, '--json']);
    return JSON.parse(list.stdout || '[]').length > 0;
  };
  while (!(await isAccepted()));
  before.service.kill('SIGKILL');
  await before.ended;
  expect(await lost).toBe('lost');
  const after = await serve();
  try {
    const again = await post(after.address, form, fields, cookieAt(after.address));
    expect(again.headers.get('location')).toMatch(/^\/dashboard\/messages\/.*\?done=before$/);
    const list = await machine.run(['sandbox', 'outbox', '--data', data, '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject([{ to: '99000004', text: 'Once' }]);
  } finally {
    after.service.kill('SIGTERM');
    await after.ended;
    machine.remove();
  }
}, 60_000);
