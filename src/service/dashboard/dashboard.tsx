import { randomUUID } from 'node:crypto';
import { parseUrl, type RequestKind } from '../../contract/index.js';
import { hashToken, newToken, rightsOf, sessionLife } from '../admin/sign-in.js';
import type { Administration } from '../administration.js';
import type { DeliveryRecord } from '../carriers/simulated/outbox.js';
import type { Clock } from '../clock.js';
import type { Encryption } from '../encryption.js';
import { ServiceError } from '../errors/service-error.js';
import type { AdmittedRequest, Operations } from '../operations/operations.js';
import type { Service } from '../service.js';
import type { LaneConnection } from '../storage/instances.js';
import type { Counted, Store } from '../storage/store.js';
import { type Asked, html, rendered, seeOther } from './answer.js';
import { assetAt } from './assets/assets.js';
import { type BrowserRequest, cookieOf } from './cookie.js';
import { createCounts } from './counts.js';
import { Feed } from './feed.js';
import { emailHeaders, reportHeaders, streamHeaders } from './headers.js';
import { languageOf, languages } from './language/language.js';
import { newSecrets } from './new-secrets.js';
import { misdirected, type Origin } from './origin.js';
import { linkTo, type PageContext, root, type View } from './page.js';
import {
  askSignIn,
  badLink,
  continueFrom,
  notFound,
  refused,
  signedOut,
  tooMany,
  unavailable,
} from './pages/alone.js';
import { messageHtml } from './pages/message.js';
import { batchReport } from './pages/report.js';
import { formAt, pageAt } from './routes.js';
import { formIn, newForm } from './send/key.js';
import { newSessions, type Session } from './sessions.js';

export interface DashboardParts {
  store: Store;
  operations: Operations;
  administration: Administration;
  channels: Service['channels'];
  /** The lanes, as this instance is connected for them. */
  connections(): readonly LaneConnection[];
  clock: Clock;
  encryption: Pick<Encryption, 'encrypt' | 'decrypt' | 'nameOfForm'>;
  /** Takes a token of the project's rate, which its keys share. */
  takeToken(
    projectId: string,
    kind: RequestKind,
    idempotencyKey?: string | null,
  ): Promise<Pick<AdmittedRequest, 'rateLimit' | 'replay'>>;
  deliveries(messageIds: readonly string[]): Promise<DeliveryRecord[]>;
  report(error: unknown, requestId: string): void;
}

/** `isLong`: of a send, and not of a stranger. */
export type ReadBody = (isLong: boolean) => Promise<Uint8Array>;

export interface Dashboard {
  /** Answers what is asked under /dashboard. `readBody` rejects with ServiceError for one that is too large. */
  fetch(request: BrowserRequest, readBody: ReadBody): Promise<Response>;
  /** Ends the live pages. */
  close(): void;
}

export function createDashboard(parts: DashboardParts, origin: Origin): Dashboard {
  const { store, operations, administration, channels, clock } = parts;
  const countsOf = createCounts(store, clock);
  const sessions = newSessions(store, administration, origin);
  const secrets = newSecrets(origin, parts.encryption);
  const hidden = Object.values(channels).includes('simulated') ? [] : (['outbox'] as const);
  const feed = new Feed({
    clock,
    isOpen: async (session) => (await store.findSession(Buffer.from(session, 'hex'))) !== null,
    report: (error) => parts.report(error, randomUUID()),
  });

  async function contextOf(asked: Asked, session: Session, id: string): Promise<PageContext> {
    const { name, projectId } = session;
    const project = await administration.project(projectId);
    if (project === null) throw new Error(`there is no project ${projectId}`);
    return {
      ...session,
      t: asked.t,
      now: clock.now(),
      store,
      operations,
      administration: project,
      channels,
      baseUrl: `${origin.url}/v1`,
      connections: parts.connections().filter(({ state, troubles }) => state !== 'simulated' || troubles),
      countsSince: (since): Promise<Counted> => countsOf(projectId, since),
      deliveries: (ids) => parts.deliveries(ids),
      id,
      query: asked.query,
      newSecret: secrets.read(asked.request, name, asked.query.created ?? ''),
      nameOfForm: (content) => parts.encryption.nameOfForm(content),
      takeToken: (key) => parts.takeToken(projectId, 'sending', key),
      report: (error) => parts.report(error, asked.requestId),
    };
  }

  /** Null where a token was taken. */
  async function overRate(asked: Asked, { projectId }: Session, kind: RequestKind): Promise<Response | null> {
    const { rateLimit } = await parts.takeToken(projectId, kind);
    const { allowed, retryAfter } = rateLimit;
    if (allowed) return null;
    const answer = await html(asked, tooMany(asked, retryAfter, kind === 'reading' ? asked.address : null));
    answer.headers.set('Retry-After', String(retryAfter));
    return answer;
  }

  async function shown(
    asked: Asked,
    { projectId, isOwner, isReadOnly }: Session,
    view: View,
    isLive: boolean,
  ): Promise<Response> {
    const project = (await store.getProject(projectId))?.name ?? '';
    const projects = isOwner ? await store.listProjects() : [];
    const { section, script = '' } = view;
    const left = isReadOnly ? [...hidden, 'send' as const] : hidden;
    return html(asked, view, { project, projectId, projects, section, hidden: left, isLive, script });
  }

  async function get(asked: Asked): Promise<Response> {
    const { t, path, query } = asked;
    if (path === '/sign-in') return html(asked, askSignIn(t, query.token ?? ''));
    const session = await sessions.of(asked.request);
    // The browser keeps the cookie to itself when another site, a mail or a chat leads here.
    const isFromElsewhere = asked.request.headers.get('sec-fetch-site') === 'cross-site';
    if (session === null) return html(asked, isFromElsewhere ? continueFrom(t, asked.address) : signedOut(t));
    // In the address, the form is the same when the browser comes back to it, or loads it again.
    if (path === '/send' && !session.isReadOnly && formIn(query, clock.now()) === null)
      return seeOther(
        linkTo(path, { channel: query.channel, reply: query.reply, form: newForm(clock.now()) }),
      );
    const refusal = await overRate(asked, session, 'reading');
    if (refusal !== null) return refusal;
    if (path === '/live') return live(asked, session);
    if (path === '/send' && session.isReadOnly) return html(asked, refused(t, t.onlyLooks, 403));
    const file = /^\/(?:messages\/([0-9a-f-]{36})\/html|batches\/([0-9a-f-]{36})\/report\.csv)$/.exec(path);
    if (file !== null) {
      const [, message, batch = ''] = file;
      const whole = await contextOf(asked, session, message ?? batch);
      const text = await (message === undefined ? batchReport(whole) : messageHtml(whole));
      if (text !== null)
        return new Response(text, { headers: message === undefined ? reportHeaders(batch) : emailHeaders });
    }
    const found = pageAt(path);
    const context = found && (await contextOf(asked, session, found.id));
    const view = context && (await found.page(context));
    const answer = await (view ? shown(asked, session, view, found.isLive) : html(asked, notFound(t)));
    if (context?.newSecret) answer.headers.append('Set-Cookie', secrets.cleared(query.created ?? ''));
    return answer;
  }

  /** The stream of a page, by its address. */
  async function live(asked: Asked, session: Session): Promise<Response> {
    const { t, query } = asked;
    if (isOfAnother(query.project, session)) return html(asked, notFound(t));
    const page = ownAddress(query.page ?? '');
    const found = page && pageAt(pathOf(page));
    if (!page || !found?.isLive) return html(asked, notFound(t));
    if (asked.request.method === 'HEAD') return new Response(null, { headers: streamHeaders });
    const address = page.pathname + page.search;
    if (!feed.hasRoom(session.name)) return html(asked, tooMany(asked, 60, address));
    const watched = { ...asked, query: Object.fromEntries(page.searchParams) };
    const name = [session.projectId, t.code, address].join(' ');
    const stream = feed.open(name, session.name, async () =>
      rendered((await found.page(await contextOf(watched, session, found.id)))?.body),
    );
    return new Response(stream, { headers: streamHeaders });
  }

  /** An address that came from a browser; null unless it is one of the dashboard. */
  function ownAddress(given: string): URL | null {
    const url = parseUrl(given, origin.url);
    return url?.origin === origin.url && url.pathname.startsWith(root) ? url : null;
  }

  async function post(asked: Asked, readBody: ReadBody): Promise<Response> {
    const { t, path } = asked;
    const isLong = path === '/send' && (await sessions.of(asked.request)) !== null;
    const fields = new URLSearchParams(Buffer.from(await readBody(isLong)).toString());
    if (path === '/language') return changeLanguage(fields);
    if (path === '/sign-in') return signIn(asked, fields);
    const session = await sessions.of(asked.request);
    if (session === null) return html(asked, signedOut(t));
    if (path === '/sign-out') return signOut(session);
    if (path === '/project') return changeProject(asked, session, fields.get('project') ?? '');
    if (session.isReadOnly) return html(asked, refused(t, t.onlyLooks, 403));
    const found = formAt(path);
    const refusal = found?.takesToken ? null : await overRate(asked, session, 'sending');
    if (refusal !== null) return refusal;
    if (isOfAnother(fields.get('project'), session)) return html(asked, refused(t, t.otherProject, 409));
    const done = found && (await found.form(await contextOf(asked, session, found.id), fields));
    if (typeof done === 'string') return seeOther(done);
    if (done && 'secret' in done) {
      const { id, secret } = done;
      return seeOther(linkTo('/keys', { created: id }), secrets.cookieOf(session.name, id, secret));
    }
    if (!done) return html(asked, notFound(t));
    return 'section' in done ? shown(asked, session, done, false) : html(asked, done);
  }

  async function signIn(asked: Asked, fields: URLSearchParams): Promise<Response> {
    const given = fields.get('token') ?? '';
    const token = newToken(rightsOf(given));
    const link = hashToken(given);
    const opened = await store.openSession(link, { hash: hashToken(token), lifeMs: sessionLife });
    if (opened === null) return html(asked, badLink(asked.t));
    const before = await sessions.of(asked.request);
    if (before !== null) await endSession(before);
    return seeOther(root, sessions.cookie(token, sessionLife / 1_000));
  }

  async function signOut(session: Session): Promise<Response> {
    await endSession(session);
    return seeOther(root, sessions.cookie('', 0));
  }

  async function changeProject(asked: Asked, { isOwner }: Session, id: string): Promise<Response> {
    if (!isOwner || (await administration.project(id)) === null) return html(asked, notFound(asked.t));
    return seeOther(root, sessions.choiceOf(id, sessionLife / 1_000));
  }

  async function endSession({ name }: Session): Promise<void> {
    await store.endSession(Buffer.from(name, 'hex'));
    feed.end(name);
  }

  function changeLanguage(fields: URLSearchParams): Response {
    const code = languages.find((each) => each.code === fields.get('language'))?.code ?? '';
    const back = ownAddress(fields.get('path') ?? '');
    return seeOther(
      back ? back.pathname + back.search : root,
      `urtuu_language=${code}; Path=${root}; Max-Age=31536000; HttpOnly; SameSite=Strict${origin.isSecure ? '; Secure' : ''}`,
    );
  }

  async function fetch(request: BrowserRequest, readBody: ReadBody): Promise<Response> {
    const url = new URL(request.url);
    const { method, headers } = request;
    if (!origin.hasHost(headers.get('host'))) return misdirected(origin, headers.get('host') ?? '');
    // Dots in the path as sent.
    if (!url.pathname.startsWith(root)) return new Response(null, { status: 404 });
    const isRead = method === 'GET' || method === 'HEAD';
    const asset = isRead ? assetAt(url.pathname) : null;
    if (asset !== null) return asset;
    const asked: Asked = {
      request,
      t: languageOf(cookieOf(request, 'urtuu_language'), headers.get('accept-language') ?? ''),
      path: pathOf(url),
      query: Object.fromEntries(url.searchParams),
      address: url.pathname + url.search,
      requestId: randomUUID(),
    };
    try {
      if (isRead) return await get(asked);
      if (method !== 'POST')
        return new Response(null, { status: 405, headers: { Allow: 'GET, HEAD, POST' } });
      // A browser says with every form where it is from; other clients are refused.
      if (!origin.hasForm(headers)) return await html(asked, refused(asked.t, asked.t.refusedForm, 403));
      if (!isForm(headers.get('content-type') ?? '')) return new Response(null, { status: 415 });
      return await post(asked, readBody);
    } catch (error) {
      if (error instanceof ServiceError && error.status < 500) {
        return html(asked, refused(asked.t, error.message, error.status));
      }
      parts.report(error, asked.requestId);
      return html(asked, unavailable(asked, isRead ? null : asked.path));
    }
  }

  return { fetch, close: () => feed.end() };
}

/** Within the dashboard, with its id in lower case. */
const pathOf = (url: URL) => url.pathname.slice(root.length).toLowerCase();

/** A page that is still open may be of the project that the browser showed before. */
const isOfAnother = (projectId: string | null | undefined, session: Session) =>
  (projectId ?? session.projectId) !== session.projectId;

const isForm = (contentType: string) => /^application\/x-www-form-urlencoded *(?:;|$)/i.test(contentType);
