import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../../src/service/index.js';
import { startBrowser } from '../../support/browser.js';
import { outboxOf } from '../../support/cores.js';
import { openDashboard, start } from './open.js';
import { populate } from './populate.js';

/** Where pictures of the pages are kept, when somebody wants to look at them. */
const shots = process.env.URTUU_SCREENSHOTS;
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
let stop = async () => {};
let close = async () => {};
let opened: Awaited<ReturnType<typeof openDashboard>>;
let clock: ManualClock;
let ids: Record<string, string>;

beforeAll(async () => {
  if (shots !== undefined) mkdirSync(shots, { recursive: true });
  clock = new ManualClock(start);
  opened = await openDashboard({ clock, atEnd: (end) => (close = end) });
  ids = await populate(opened.service, clock, opened.call);
  ({ browser, stop } = await startBrowser());
}, 60_000);
afterAll(async () => {
  await stop();
  await close();
});

const root = () => `${opened.address}/dashboard`;

/** A browser window of its own; notes whatever should not happen in it. */
async function openWindow(options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: wide, ...options });
  onTestFinished(() => context.close());
  const bad: string[] = [];
  context.on('dialog', (dialog) => {
    bad.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // What the policy of a page blocks does not come here.
  await context.route(
    (url) => url.origin !== opened.address && url.protocol !== 'data:',
    (route) => {
      bad.push(`request: ${route.request().url()}`);
      return route.abort();
    },
  );
  context.on('weberror', (error) => bad.push(`error: ${error.error()}`));
  /** By the policy of a page, which needs nothing of what it forbids. What an email loads from elsewhere is not the page's. */
  const blocked: string[] = [];
  context.on('console', (said) => {
    const text = said.text();
    if (/Content Security Policy/i.test(text) && !text.includes('https://example.com/pixel.gif'))
      blocked.push(text);
  });
  const page = await context.newPage();
  return { context, page, bad, blocked };
}

async function signIn(page: Page): Promise<void> {
  await page.goto(await opened.newLink());
  await page.click('main button[type=submit]');
  await page.waitForURL(root());
}

/** Sends, and lets the live pages look. */
async function sendAndLook(body: object): Promise<void> {
  await opened.call('/sms', body);
  await opened.service.administration.idle();
  clock.advance(2_000);
}

const wide = { width: 1280, height: 800 };
/** The narrowest that has to work: WCAG's reflow. */
const narrow = { width: 320, height: 700 };

/** Light with every rule; dark and narrow, which have the same elements, with those that they alone can break. */
const looks = [
  { look: 'light', colorScheme: 'light', viewport: wide, rules: undefined },
  { look: 'dark', colorScheme: 'dark', viewport: wide, rules: ['color-contrast'] },
  { look: 'phone', colorScheme: 'light', viewport: narrow, rules: ['target-size'] },
] as const;

/** Looks at a page in every look; gives what is wrong with it. */
async function inspect(page: Page, name: string): Promise<string[]> {
  const wrong: string[] = [];
  await page.evaluate(axe);
  for (const { look, colorScheme, viewport, rules } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const violations = await page.evaluate<string[]>(
      `axe.run(document, { iframes: false, runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes[0]?.html))`,
    );
    wrong.push(...violations.map((violation) => `${name}, ${look}: ${violation}`));
    const isOver = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    if (isOver) wrong.push(`${name}, ${look}: wider than its window`);
    if (shots !== undefined)
      await page.screenshot({ path: join(shots, `${name}-${look}.png`), fullPage: true });
  }
  return wrong;
}

describe('every page', () => {
  it.each(['en-US', 'mn-MN'])(
    'is accessible and fits, light, dark and narrow, in %s',
    async (locale) => {
      const few = {
        overview: '',
        keys: '/keys',
        sending: '/settings/sending',
        batch: `/batches/${ids.batch}`,
        send: '/send',
      };
      const rest = {
        messages: '/messages?to=99112233',
        filtered: '/messages?status=failed',
        hostile: `/messages/${ids.hostile}`,
        cleaned: `/messages/${ids.cleaned}`,
        delivered: `/messages/${ids.delivered}`,
        email: `/messages/${ids.email}`,
        batches: '/batches',
        outbox: '/outbox',
        inbox: '/inbox',
        'email-settings': '/settings/email',
        balance: '/balance',
        revoke: `/keys/${ids.key}/revoke`,
        prices: '/settings/prices',
        'send-email': '/send?channel=email',
        'not-found': '/nothing',
      };
      const isAll = locale === 'en-US';
      const { page, bad, blocked } = await openWindow({ locale });
      const wrong: string[] = [];
      await page.goto(`${root()}/sign-in?token=x`);
      wrong.push(...(await inspect(page, `sign-in-${locale}`)));
      await page.click('main button[type=submit]');
      wrong.push(...(await inspect(page, `bad-link-${locale}`)));
      await signIn(page);
      for (const [name, path] of Object.entries({ ...few, ...(isAll ? rest : {}) })) {
        await page.goto(root() + path);
        wrong.push(...(await inspect(page, `${name}-${locale}`)));
      }
      await page.goto(`${root()}/inbox`);
      await page.click('main a[href*="/send?reply="]');
      for (const [name, to] of [
        ['reply', null],
        ['bad-list', 'bat\n\nx@'],
        ['send-preview', 'bat@example.mn\ndorj@example.mn'],
      ] as const) {
        if (to !== null) {
          await page.fill('#to', to);
          await page.fill('#text', 'Сайн байна уу.\n\nТа маргааш ирээрэй.');
          await page.click('main button');
        }
        wrong.push(...(await inspect(page, `${name}-${locale}`)));
      }
      expect(wrong).toEqual([]);
      expect([bad, blocked]).toEqual([[], []]);
    },
    120_000,
  );

  it('that says no is accessible and fits too', async () => {
    const busy = await openDashboard({ clock: new ManualClock(start), rates: 'enforced' });
    const cookie = await busy.signIn();
    const answers = {
      'signed-out': await opened.get(''),
      refused: await opened.post('/keys', {}, '', { origin: 'https://example.com' }),
      'past-the-end': await opened.get(`/batches?after=${ids.email}`, await opened.signIn()),
      'too-many': await busy.get('/keys', cookie),
    };
    for (let taken = 0; taken < 10; taken += 1)
      answers['too-many'] = await busy.get('/messages?to=99112233', cookie);
    const { page, bad } = await openWindow();
    const wrong: string[] = [];
    for (const [name, answer] of Object.entries(answers)) {
      const body = await answer.text();
      await page.route(`${root()}/${name}`, (route) => route.fulfill({ body, contentType: 'text/html' }));
      await page.goto(`${root()}/${name}`);
      wrong.push(...(await inspect(page, name)));
    }
    expect(Object.values(answers).map(({ status }) => status)).toEqual([401, 403, 400, 429]);
    expect(wrong).toEqual([]);
    expect(bad).toEqual([]);
  }, 60_000);
});

describe('what people have sent', () => {
  it('runs nothing, opens nothing and loads nothing, in the frame of an email either', async () => {
    const { page, bad } = await openWindow();
    await signIn(page);
    for (const path of [
      `/messages/${ids.email}`,
      `/messages/${ids.hostile}`,
      '/outbox?after=',
      '/keys',
      '/settings/sending',
    ]) {
      await page.goto(root() + path);
      await page.mouse.move(640, 300);
      expect(page.url()).toBe(root() + path);
    }
    await page.goto(`${root()}/messages/${ids.email}`);
    const frame = page.frameLocator('iframe');
    await frame.locator('h1').waitFor();
    await frame.locator('button').click();
    // By itself it is the same document, in a sandbox of its own.
    await page.goto(`${root()}/messages/${ids.email}/html`);
    expect(await page.textContent('h1')).toBe('Сар шинийн мэнд');
    expect(await page.evaluate('origin')).toBe('null');
    expect(bad).toEqual([]);
  });
});

describe('a live page', () => {
  it('follows what happens, and keeps focus and open details', async () => {
    const { page, bad } = await openWindow();
    await signIn(page);
    await page.locator('.live:not([hidden])').waitFor();
    await page.click('summary');
    const link = page.locator('tbody a').first();
    await link.focus();
    const before = await link.textContent();
    await sendAndLook({ to: '88445566', text: 'live' });
    await page.locator('text=88445566').waitFor();
    expect(await page.locator('details[open]').count()).toBe(1);
    expect(await page.evaluate('document.activeElement?.textContent')).toBe(before);
    expect(bad).toEqual([]);
  });

  it('says when it is over, and leaves when its session is', async () => {
    const { context, page } = await openWindow();
    await signIn(page);
    await page.locator('.live:not([hidden])').waitFor();
    const [{ name = '', value = '' } = {}] = await context.cookies();
    await opened.post('/sign-out', {}, `${name}=${value}`);
    await page.locator('text=You are signed out').waitFor();
  });

  it('comes back by itself after an answer that ends its stream, as that of a proxy', async () => {
    const { page } = await openWindow();
    await page.clock.install();
    await page.route(/\/live\?/, (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }), {
      times: 1,
    });
    await signIn(page);
    await page.locator('.live.off').waitFor();
    await page.clock.runFor(10_000);
    await page.locator('.live:not(.off)').waitFor();
    await sendAndLook({ to: '88445577', text: 'back' });
    await page.locator('text=88445577').waitFor();
  });

  it('leaves when its session ended while nobody looked', async () => {
    const { context, page } = await openWindow();
    await signIn(page);
    await page.locator('.live:not([hidden])').waitFor();
    const look = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`);
    await look(true);
    const [{ name = '', value = '' } = {}] = await context.cookies();
    await opened.post('/sign-out', {}, `${name}=${value}`);
    await look(false);
    await page.locator('text=You are signed out').waitFor();
  });

  it('of two tabs ends in both when one signs out, and the other can do nothing more', async () => {
    const { context, page, bad, blocked } = await openWindow();
    await signIn(page);
    await page.locator('.live:not([hidden])').waitFor();
    const forms = await context.newPage();
    await forms.goto(`${root()}/keys`);
    const third = await context.newPage();
    await third.goto(`${root()}/messages`);
    const before = (await opened.service.administration.listKeys()).length;
    await third.click('text=Sign out');
    await page.locator('text=You are signed out').waitFor();
    await forms.fill('input[name=label]', 'too late');
    await forms.click('text=Create key');
    await forms.locator('text=You are signed out').waitFor();
    expect(await opened.service.administration.listKeys()).toHaveLength(before);
    expect([bad, blocked]).toEqual([[], []]);
  });
});

describe('a message', () => {
  async function sentTo(to: string): Promise<number> {
    await opened.service.administration.idle();
    return (await outboxOf(opened.service)).filter((each) => each.to === to).length;
  }

  it('is counted as one types, previewed, and sent once by a double click, a reload and Back', async () => {
    const { page, bad, blocked } = await openWindow();
    await signIn(page);
    await page.click('nav a >> text=Send');
    await page.fill('#to', '99556677');
    await page.locator('#text').pressSequentially('Hi {name}');
    expect(await page.textContent('#text-hint')).toBe('Parts: 1/5, 11 Latin characters · Credits: 10');
    await page.locator('#text').pressSequentially(' ө');
    expect(await page.textContent('#text-hint')).toBe('Parts: 1/5, 11 Unicode characters · Credits: 10');
    const form = page.url();
    await page.click('text=Preview');
    await page.dblclick('main button >> text=Send');
    await page.waitForURL(/\/messages\//);
    const message = page.url().split('?')[0];
    expect(await page.textContent('.notice')).toMatch(/Accepted|sent before/);
    await page.reload();
    await page.goBack();
    await page.click('main button >> text=Send');
    await page.waitForURL(`${message}?done=before`);
    // From the form itself, with the same in it.
    await page.goto(form);
    await page.fill('#to', '99556677');
    await page.fill('#text', 'Hi {name} ө');
    await page.click('text=Preview');
    const tab = await page.context().newPage();
    await tab.goto(form);
    await page.click('main button >> text=Send');
    await page.waitForURL(`${message}?done=before`);
    expect(await sentTo('99556677')).toBe(1);
    expect([bad, blocked]).toEqual([[], []]);
  });

  it('is asked about again where the network was gone, with what was written', async () => {
    const { page, context } = await openWindow();
    await signIn(page);
    await page.goto(`${root()}/send`);
    await page.fill('#to', '99556688');
    await page.fill('#text', 'Gone');
    await page.click('text=Preview');
    // It arrives, and its answer does not.
    await context.route(
      /\/dashboard\/send\?/,
      async (route) => {
        await route.fetch({ maxRedirects: 0 });
        await route.abort('connectionreset');
      },
      { times: 1 },
    );
    await page.click('main button >> text=Send');
    await page.waitForURL('chrome-error://chromewebdata/');
    await page.reload();
    await page.waitForURL(/\/messages\/.*done=before/);
    expect(await sentTo('99556688')).toBe(1);
  });
});

describe('on paper', () => {
  it('a page is its content, in tables, dark on white', async () => {
    const { page } = await openWindow();
    await signIn(page);
    // A4 with its margins, of a browser that is dark.
    await page.setViewportSize({ width: 718, height: 1047 });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const path of ['', '/messages', `/messages/${ids.email}`, '/batches', '/outbox', '/balance']) {
      await page.goto(root() + path);
      expect(await page.locator('.side, footer, .live, .skip, button').locator('visible=true').count()).toBe(
        0,
      );
      const colors =
        '(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))';
      expect(await page.evaluate(colors)).toEqual(['rgb(29, 30, 34)', 'rgb(255, 255, 255)']);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      if (shots !== undefined)
        await page.screenshot({ path: join(shots, `print${path.replaceAll('/', '-')}.png`), fullPage: true });
    }
    await page.goto(`${root()}/messages`);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('tbody tr')).display`)).toBe(
      'table-row',
    );
  });
});

describe('without script', () => {
  it('everything works but live', async () => {
    const { page } = await openWindow({ javaScriptEnabled: false });
    await signIn(page);
    await page.click('nav a >> text=Messages');
    await page.selectOption('select[name=status]', 'failed');
    await page.click('text=Filter');
    expect(await page.locator('tbody tr').count()).toBe(5);
    await page.click('tbody a >> nth=0');
    expect(await page.textContent('.state')).toContain('refunded');
    await page.click('nav a >> text=Keys');
    await page.fill('input[name=label]', 'by hand');
    await page.click('text=Create key');
    expect(await page.textContent('#secret')).toMatch(/^urtuu_\w{40}$/);
    await page.reload();
    expect(await page.locator('#secret').count()).toBe(0);
    expect(await page.locator('[aria-label*="(by hand)"]').count()).toBe(1);
    await page.click('[aria-label*="(by hand)"]');
    await page.click('main button');
    expect(await page.textContent('[role=status].notice')).toContain('Key revoked.');
    await page.click('nav a >> text=Settings');
    await page.fill('#per_10_minutes', '6');
    await page.click('text=Save');
    expect(await page.textContent('.notice')).toContain('Saved.');
    expect((await opened.service.administration.settings.get()).caps.per_10_minutes).toBe(6);
    await page.click('nav a >> text=Send');
    await page.fill('#to', '99556699');
    await page.fill('#text', 'Without script');
    await page.click('text=Preview');
    await page.click('button >> text=Edit');
    expect(await page.inputValue('#text')).toBe('Without script');
    await page.click('text=Preview');
    await page.click('main button >> text=Send');
    expect(await page.textContent('.facts')).toContain('Sent from');
    await page.click('nav a >> text=Settings');
    await page.click('text=Монгол');
    expect(await page.textContent('h1')).toBe('Тохиргоо');
    await page.click('footer >> text=Гарах');
    expect(await page.textContent('h1')).toBe('Та нэвтрээгүй байна');
  });
});

describe('by keyboard', () => {
  it('the content is one key away, and everything can be reached', async () => {
    const { page } = await openWindow();
    await page.goto(await opened.newLink());
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(root());
    await page.goto(`${root()}/messages`);
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.name');
    expect(await focused()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('to');
    await page.keyboard.type('88112233');
    await page.keyboard.press('Enter');
    await page.waitForURL(/to=88112233/);
    expect(await page.locator('tbody tr').count()).toBe(1);
  });

  it('a message is written, looked at and sent', async () => {
    const { page } = await openWindow();
    await signIn(page);
    await page.goto(`${root()}/send`);
    await page.focus('#to');
    await page.keyboard.type('99556600');
    await page.keyboard.press('Tab');
    await page.keyboard.type('By hand');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('h2 >> text=Preview').waitFor();
    await page.focus('main button >> nth=0');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/messages\/.*done=sent/);
  });

  it('settings are changed, in the order that they are read', async () => {
    const { page } = await openWindow();
    await signIn(page);
    await page.goto(`${root()}/settings/sending`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const reached: unknown[] = [];
    const press = async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        await page.keyboard.press('Tab');
        reached.push(
          await page.evaluate('document.activeElement.name || document.activeElement.textContent'),
        );
      }
    };
    await press(4);
    await page.keyboard.type('4');
    await press(6);
    expect(reached).toEqual([
      ...['Sending', 'Email', 'Prices and holidays', 'per_10_minutes'],
      ...['per_24_hours', 'brand_name', 'reply_to', 'stop_words', 'start_words', 'Save'],
    ]);
    await page.keyboard.press('Enter');
    await page.waitForURL(/done=saved/);
    expect(await page.getByRole('status').allTextContents()).toEqual([expect.stringContaining('Saved.')]);
    expect((await opened.service.administration.settings.get()).caps.per_10_minutes).toBe(4);
  });
});

describe('another site', () => {
  /** A page of another site that does what it can. */
  async function serveHostile(): Promise<string> {
    const server = createServer((_, answer) => {
      answer.setHeader('content-type', 'text/html');
      answer.end(`<iframe src="${root()}"></iframe>
        <form method="post" action="${root()}/keys"><input name="label" value="theirs"></form>
        <script>
          fetch('${root()}/keys', { method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({ label: 'theirs' }) });
          fetch('${root()}/keys', { credentials: 'include' }).then(() => { document.title = 'read'; }, () => {});
          setTimeout(() => document.forms[0].submit(), 300);
        </script>`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return `http://localhost:${(server.address() as AddressInfo).port}/`;
  }

  it('can neither read, nor change, nor frame anything', async () => {
    const before = await opened.service.administration.listKeys();
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await signIn(page);
    const framed = context.waitForEvent('requestfailed', (request) => request.url() === root());
    await page.goto(await serveHostile());
    await framed;
    await page.waitForURL(`${root()}/keys`);
    expect(await page.textContent('h1')).toBe('Refused');
    expect(await opened.service.administration.listKeys()).toEqual(before);
  });

  it('leads to a page in two steps, the second of which sends the cookie', async () => {
    const { page, context } = await openWindow();
    await signIn(page);
    await context.route('https://mail.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<a href="${root()}/messages">Look</a>` }),
    );
    await page.goto('https://mail.example/');
    await page.click('a');
    await page.click('a:text("Continue")');
    await page.waitForURL(`${root()}/messages`);
    expect(await page.textContent('h1')).toBe('Messages');
  });
});

describe('a proxy', () => {
  it('that adds Referrer-Policy: no-referrer leaves the forms alone', async () => {
    const { page, context } = await openWindow();
    await signIn(page);
    await context.route(`${root()}/settings/sending`, async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const response = await route.fetch();
      const headers = { ...response.headers(), 'referrer-policy': 'no-referrer' };
      await route.fulfill({ response, headers });
    });
    await page.goto(`${root()}/settings/sending`);
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.click('main button[type=submit]:text("Save")');
    expect((await (await sent).allHeaders()).origin).toBe('null');
    await page.waitForURL(/done=saved/);
  });
});
