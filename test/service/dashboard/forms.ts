import type { openDashboard } from './open.js';

type Opened = Awaited<ReturnType<typeof openDashboard>>;

const plain = (html: string) =>
  html
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&');

/** The words of a page's content. */
export const wordsOf = (html: string) =>
  plain(html.replace(/^.*<main id="main"[^>]*>|<footer>.*$/gs, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

const attribute = (element: string, name: string) =>
  plain(new RegExp(`\\s${name}="([^"]*)"`).exec(element)?.[1] ?? '');

/** The form of a page's content, as a browser without script reads it. */
export function formOf(html: string) {
  const content = html.replace(/<footer>.*$/s, '');
  const [, tag = '', inside = ''] = /(<form method="post"[^>]*>)(.*?)<\/form>/s.exec(content) ?? [];
  const fields: Record<string, string> = {};
  for (const [input] of inside.matchAll(/<input[^>]*>/g))
    fields[attribute(input, 'name')] = attribute(input, 'value');
  for (const [, area = '', text = ''] of inside.matchAll(/(<textarea[^>]*)>(.*?)<\/textarea>/gs))
    fields[attribute(area, 'name')] = plain(text).replace(/^\n/, '');
  return { path: attribute(tag, 'action').replace('/dashboard', ''), fields };
}

/** Somebody at a browser: every page is the answer to a link or a button. */
export function atBrowser({ get, post }: Opened, cookie: string) {
  const addresses: string[] = [];
  async function read(answer: Response) {
    const html = await answer.text();
    return { status: answer.status, html, words: wordsOf(html), ...formOf(html) };
  }
  async function open(path: string): Promise<Awaited<ReturnType<typeof read>>> {
    addresses.push(path);
    const answer = await get(path, cookie);
    const location = answer.headers.get('location');
    return location === null ? read(answer) : open(location.replace('/dashboard', ''));
  }
  /** Posts a form; returns where it leads, or the page that it shows. */
  async function press(
    { path, fields }: { path: string; fields: Record<string, string> },
    button: Record<string, string> = {},
  ) {
    addresses.push(path);
    const answer = await post(path, { ...fields, ...button }, cookie);
    const location = answer.headers.get('location')?.replace('/dashboard', '') ?? '';
    if (location !== '') addresses.push(location);
    return { location, ...(await read(answer)) };
  }
  /** An empty form, filled in. */
  async function write(fields: Record<string, string>, query = '') {
    const page = await open(`/send${query}`);
    return { ...page, fields: { ...page.fields, ...fields } };
  }
  const send = { do: 'send' };
  return {
    addresses,
    open,
    press,
    write,
    /** Writes, looks at the preview, and sends. */
    async send(fields: Record<string, string>, query = '') {
      return press(await press(await write(fields, query)), send);
    },
    preview: async (fields: Record<string, string>, query = '') => press(await write(fields, query)),
    confirm: (page: { path: string; fields: Record<string, string> }) => press(page, send),
  };
}
