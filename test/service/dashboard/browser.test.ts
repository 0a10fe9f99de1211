import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/index.js';
import { startBrowser } from '../../support/browser.js';
import { openDashboard, start } from './open.js';
import { populate } from './populate.js';

const shots = join(import.meta.dirname, 'screenshots');

let browser: Browser;
let stop = async () => {};
beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  ({ browser, stop } = await startBrowser());
}, 60_000);
afterAll(() => stop());

it('shots', async () => {
  const clock = new ManualClock(start);
  const { service, newLink, call } = await openDashboard({ clock });
  const t = Date.now();
  const ids = await populate(service, clock, call);
  console.log('populated', Date.now() - t);
  const pages = {
    overview: '',
    messages: '/messages',
    filtered: '/messages?status=failed',
    message: `/messages/${ids.hostile}`,
    cleaned: `/messages/${ids.cleaned}`,
    email: `/messages/${ids.email}`,
    delivered: `/messages/${ids.delivered}`,
    batches: '/batches',
    batch: `/batches/${ids.batch}`,
    outbox: '/outbox',
    balance: '/balance',
    keys: '/keys',
    sending: '/settings/sending',
    prices: '/settings/prices',
    missing: '/nothing',
  };
  const looks: Record<string, BrowserContextOptions> = {
    light: { viewport: { width: 1280, height: 800 } },
    dark: { viewport: { width: 1280, height: 800 }, colorScheme: 'dark', locale: 'mn-MN' },
    phone: { viewport: { width: 390, height: 844 }, isMobile: true },
  };
  for (const [look, options] of Object.entries(looks)) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.on('console', (m) => console.log(look, m.text()));
    await page.goto(await newLink());
    await page.screenshot({ path: join(shots, `sign-in-${look}.png`) });
    await page.click('main button');
    const base = page.url();
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(base + path);
      const summary = page.locator('summary').last();
      if (name === 'outbox' && (await summary.count())) await summary.click();
      if (name === 'outbox' || name === 'email') await page.waitForTimeout(150);
      await page.screenshot({ path: join(shots, `${name}-${look}.png`), fullPage: true });
    }
    await context.close();
  }
  console.log('all', Date.now() - t);
  expect(1).toBe(1);
}, 100_000);
