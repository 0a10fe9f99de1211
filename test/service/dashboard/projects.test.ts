import { describe, expect, it } from 'vitest';
import { openDashboard } from './open.js';

const allProjects = true;

/** A dashboard of two projects, each with a message. */
async function openTwo() {
  const opened = await openDashboard();
  const { administration } = opened.service;
  const [first] = await administration.listProjects();
  const { id } = await administration.createProject('Shop');
  const shop = await administration.project(id);
  if (first === undefined || shop === null) throw new Error('no projects');
  await opened.call('/sms', { to: '88112233', text: 'Only of the first project' });
  return { ...opened, administration, first: first.id, shop, shopId: id };
}

const cookieIn = (answer: Response) => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

describe('a session of an owner', () => {
  it('switches between projects, and each page is of one', async () => {
    const { get, post, signIn, first, shopId } = await openTwo();
    const session = await signIn(undefined, { allProjects });
    expect(await (await get('/messages', session)).text()).toContain('88112233');
    const switched = await post('/project', { project: shopId }, session);
    expect(switched.headers.get('location')).toBe('/dashboard');
    expect(switched.headers.get('set-cookie')).toMatch(
      /^urtuu_session_\d+_project=[\da-f-]{36}; Path=\/dashboard; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const both = `${session}; ${cookieIn(switched)}`;
    const page = await (await get('/messages', both)).text();
    expect(page).not.toContain('88112233');
    expect(page).toMatch(new RegExp(`<option value="${shopId}" selected[^>]*>Shop</option>`));
    const back = cookieIn(await post('/project', { project: first }, both));
    expect(await (await get('/messages', `${session}; ${back}`)).text()).toContain('88112233');
  });

  it.each(['', 'x', '00000000-0000-7000-8000-00000000ffff'])('has no project %j', async (project) => {
    const { get, post, signIn } = await openTwo();
    const session = await signIn(undefined, { allProjects });
    expect((await post('/project', { project }, session)).status).toBe(404);
    const name = session.split('=')[0];
    const page = await get('/messages', `${session}; ${name}_project=${project}`);
    expect(await page.text()).toContain('88112233');
  });

  it('changes nothing by a form of another project than it shows, and its live pages end', async () => {
    const { get, post, signIn, administration, first, shop, shopId } = await openTwo();
    const session = await signIn(undefined, { allProjects });
    expect(await (await get('/keys', session)).text()).toContain(`name="project" value="${first}"`);
    const both = `${session}; ${cookieIn(await post('/project', { project: shopId }, session))}`;
    expect((await post('/keys', { label: 'x', project: first }, both)).status).toBe(409);
    const prices = { sms_part: '1', email: '1', shown: '', project: first };
    expect((await post('/settings/prices', prices, both)).status).toBe(409);
    for (const each of [administration, shop]) {
      expect(await each.listKeys()).toEqual([]);
      expect((await each.settings.get()).prices).toEqual({ sms_part: 10, email: 2 });
    }
    expect((await get(`/live?page=/dashboard&project=${first}`, both)).status).toBe(404);
    const live = await get(`/live?page=/dashboard&project=${shopId}`, both);
    expect(live.status).toBe(200);
    await live.body?.cancel();
    expect((await post('/keys', { label: 'x', project: shopId }, both)).status).toBe(303);
    expect(await shop.listKeys()).toHaveLength(1);
  });
});

describe('a session of a project', () => {
  it('never sees another, whatever its cookies say', async () => {
    const { get, post, signIn, first, shop } = await openTwo();
    const session = await signIn(shop);
    const [name, token] = session.split('=');
    expect((await post('/project', { project: first }, session)).status).toBe(404);
    const own = await (await get('/messages', `${session}; ${name}_project=${first}`)).text();
    expect(own).toContain('Shop');
    expect(own).not.toMatch(/88112233|Switch project/);
    for (const forged of [`all.${token}`, `${token}all.`, `${token}.all`])
      expect((await get('/messages', `${name}=${forged}; ${name}_project=${first}`)).status).toBe(401);
  });

  it('sees the prices and holidays of its project, and changes none', async () => {
    const { get, post, signIn, first, shop, shopId } = await openTwo();
    const given = { prices: { sms_part: 17, email: 3 }, holidays: { '2026-12-29': 1.5 } };
    const before = await shop.settings.update(given);
    const session = await signIn(shop);
    const page = await (await get('/settings/prices', session)).text();
    for (const shown of ['17', '2026-12-29', 'value="1.5"', 'Only the owner']) expect(page).toContain(shown);
    expect(page).toMatch(/<fieldset disabled="">.*name="sms_part"/s);
    expect(page).not.toContain('action="/dashboard/settings');
    const free = { sms_part: '0', email: '0', date: '2026-12-30', multiplier: '0.01', remove: '2026-12-29' };
    for (const project of [shopId, undefined]) {
      const answer = await post('/settings/prices', { ...free, ...(project && { project }) }, session);
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain('Only the owner');
    }
    expect((await post('/settings/prices', { ...free, project: first }, session)).status).toBe(409);
    // Fields of another form are nothing in this one.
    const hidden = {
      ...free,
      operators: '{}',
      no_link_operators: '',
      prices: '{"sms_part": 0}',
      shown: 'sms_part=17',
    };
    const sending = { per_10_minutes: '5', per_24_hours: '20', brand_name: '', reply_to: '' };
    expect((await post('/settings/sending', { ...sending, ...hidden }, session)).status).toBe(303);
    expect((await post('/settings/email', { list_unsubscribe: '', ...hidden }, session)).status).toBe(303);
    const { prices, holidays, operators, no_link_operators } = before;
    expect(await shop.settings.get()).toMatchObject({ prices, holidays, operators, no_link_operators });
  });

  it('is all that its link opens, marked as an owner’s too', async () => {
    const { post, newLink, tokenOf, shop } = await openTwo();
    const token = tokenOf(await newLink(shop));
    expect((await post('/sign-in', { token: `all.${token}` })).status).toBe(403);
    expect(cookieIn(await post('/sign-in', { token }))).not.toContain('=all.');
  });
});
