import { onTestFinished } from 'vitest';
import {
  createService,
  ManualClock,
  type ProjectAdministration,
  type ServiceOptions,
} from '../../../src/service/index.js';
import { testEngine } from '../../support/test-engine.js';

/** Friday, 2026-11-20, 15:00 in Ulaanbaatar. */
export const start = Date.UTC(2026, 10, 20, 7);

type Given = ServiceOptions & {
  publicUrl?: string;
  /** Of the service; at the end of the test where absent. */
  atEnd?(close: () => Promise<void>): void;
};

/** A service with a dashboard, and ways to use it as a browser does. */
export async function openDashboard({ publicUrl, atEnd = onTestFinished, ...given }: Given = {}) {
  const engine = await testEngine();
  const service = await createService({
    clock: new ManualClock(start),
    rates: 'off',
    seed: 'dashboard',
    ...engine.options,
    ...given,
  });
  atEnd(async () => {
    await service.close();
    engine.release();
  });
  const listening = await service.listen({ port: 0, dashboard: { publicUrl: publicUrl ?? null } });
  const address = new URL(listening.url).origin;
  const origin = publicUrl === undefined ? address : new URL(publicUrl).origin;

  const get = (path: string, cookie = '', headers: Record<string, string> = {}) =>
    fetch(`${address}/dashboard${path}`, { headers: { cookie, ...headers }, redirect: 'manual' });
  const post = (
    path: string,
    fields: Record<string, string>,
    cookie = '',
    headers: Record<string, string> = {},
  ) =>
    fetch(`${address}/dashboard${path}`, {
      method: 'POST',
      headers: { cookie, origin, ...headers },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });

  async function newLink(
    project: ProjectAdministration = service.administration,
    options: { allProjects?: boolean; readOnly?: boolean } = {},
  ): Promise<string> {
    const link = await project.createDashboardLink(options);
    if (link === null) throw new Error('no link');
    return link;
  }
  const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? '';

  /** The cookie of a new session. */
  async function signIn(
    project?: ProjectAdministration,
    options?: { allProjects?: boolean; readOnly?: boolean },
  ): Promise<string> {
    const answer = await post('/sign-in', { token: tokenOf(await newLink(project, options)) });
    return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  }

  async function call(path: string, body: object): Promise<{ id: string }> {
    const answer = await service.fetch(`http://embedded.invalid/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { id: string };
  }

  return { service, address, get, post, newLink, tokenOf, signIn, call };
}
