import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Desk } from '../../../support/desk.js';
import { refusal, testKey } from '../../../support/run.js';
import { saying } from '../../../support/saying.js';
import { checksummed } from '../../bulk/journal-lines.js';
import { constant, desk, partly, partlySent, people, personal, printed } from './desks.js';

const keyOf = (letter: string) => ({ env: { URTUU_API_KEY: `urtuu_${letter.repeat(40)}` } });
const otherKey = keyOf('B');

/** The job july has sent two of its five messages; a third one is in doubt, until `instead` is another. */
async function deskInDoubt(): Promise<Desk> {
  const here = desk(people(5));
  here.project.options.instead = ({ method }) =>
    method === 'POST' && here.project.messages.length >= 2 ? refusal(503, 'unavailable') : undefined;
  expect(await here.run(`${personal} --concurrency 1 --max-wait 5s`)).toMatchObject({ code: 6 });
  return here;
}

describe('a job under another API key', () => {
  it('does not continue under a key of another project, even with --same-project', async () => {
    const here = await partlySent();
    here.project.options.instead = ({ method, path }) =>
      method === 'GET' && /\/(?:messages|batches)\/./.test(path) ? refusal(404, 'not_found') : undefined;
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject(
      saying(11, 'this API key belongs to another project'),
    );
    expect(here.project.messages).toHaveLength(2);
    delete here.project.options.instead;
    expect(await here.run('jobs resume july', otherKey)).toMatchObject({ code: 11 });
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
  });

  it('names the profile whose key started it', async () => {
    const here = desk(people(5), { credits: 25 });
    await here.run(partly);
    await here.run('login --profile clinic --api-key-file -', { env: {}, stdin: testKey });
    const { stderr } = await here.run('jobs resume july', otherKey);
    expect(stderr).toContain('Use --profile clinic. If both keys belong to one project');
    here.project.balance = 1_000;
    expect(await here.run('jobs resume july --profile clinic', { env: {} })).toMatchObject({ code: 0 });
  });

  it('with something in doubt does not continue under a send-only key', async () => {
    const here = await deskInDoubt();
    here.project.options.instead = ({ method }) => (method === 'GET' ? refusal(403, 'forbidden') : undefined);
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject(
      saying(11, 'the key it used last, or a key that can read'),
    );
    expect(here.project.messages).toHaveLength(2);
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('with everything in doubt does not continue under another key: nothing shows its project', async () => {
    const here = desk(people(5));
    here.project.options.instead = ({ method }) =>
      method === 'POST' ? refusal(503, 'unavailable') : undefined;
    expect(await here.run(`${constant} --max-wait 5s`)).toMatchObject({ code: 6 });
    delete here.project.options.instead;
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject(
      saying(11, 'none is known to be accepted with the key it used last'),
    );
    expect(here.project.messages).toEqual([]);
    expect(await here.run('jobs resume july')).toMatchObject({ code: 0 });
  });

  it('does not go back to its first key while something of another one is in doubt', async () => {
    const here = desk(people(5));
    const answerSends = (status: number, code: string) => {
      here.project.options.instead = ({ method }) => (method === 'POST' ? refusal(status, code) : undefined);
    };
    answerSends(402, 'insufficient_credits');
    expect(await here.run(constant)).toMatchObject({ code: 7 });
    answerSends(503, 'unavailable');
    const line = 'jobs resume july --max-wait 5s';
    expect(await here.run(`${line} --same-project`, otherKey)).toMatchObject({ code: 6 });
    delete here.project.options.instead;
    expect(await here.run('jobs resume july')).toMatchObject(
      saying(11, 'Resume it with the key it used last'),
    );
    expect(here.project.messages).toEqual([]);
    expect(await here.run('jobs resume july', otherKey)).toMatchObject({ code: 0 });
  });

  it('is exit 6 while something is in doubt and the service does not answer', async () => {
    const here = await deskInDoubt();
    here.project.options.instead = () => refusal(503, 'unavailable');
    const { code, stderr } = await here.run('jobs resume july --same-project --json', otherKey);
    expect([code, JSON.parse(stderr).error]).toMatchObject([6, { job: 'july', retryable: true }]);
    delete here.project.options.instead;
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('is exit 6 with something in doubt and a key that is not valid; later is no help', async () => {
    const here = await deskInDoubt();
    here.project.options.instead = () => refusal(401, 'unauthorized');
    const other = await here.run('jobs resume july --same-project --json', otherKey);
    expect([other.code, JSON.parse(other.stderr).error]).toMatchObject([
      6,
      { code: 'unauthorized', retryable: false, hint: expect.stringContaining('Use a valid API key') },
    ]);
    const own = await here.run('jobs resume july --json');
    expect([own.code, JSON.parse(own.stderr).error]).toMatchObject([
      6,
      {
        code: 'in_doubt',
        cause: 'unauthorized',
        retryable: false,
        hint: 'Resume with a valid API key of the same project: urtuu jobs resume july --same-project',
      },
    ]);
  });

  it('does not continue under a send-only key once something was accepted', async () => {
    const here = await partlySent();
    const onlySends = () => {
      here.project.options.instead = ({ method }) =>
        method === 'GET' ? refusal(403, 'forbidden') : undefined;
    };
    onlySends();
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject(
      saying(11, 'the job july has accepted messages, and this key may only send'),
    );
    expect(here.project.messages).toHaveLength(2);
    delete here.project.options.instead;
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('continues under any key with --same-project while nothing was accepted', async () => {
    const here = desk(people(5));
    here.project.options.instead = ({ method }) =>
      method === 'POST' ? refusal(402, 'insufficient_credits') : undefined;
    expect(await here.run(constant)).toMatchObject({ code: 7 });
    here.project.options.instead = ({ method }) => (method === 'GET' ? refusal(403, 'forbidden') : undefined);
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('is checked with what an earlier key sent, after a key that sent nothing', async () => {
    const here = await partlySent();
    here.project.options.instead = ({ method }) =>
      method === 'GET' ? undefined : refusal(401, 'unauthorized');
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject({ code: 4 });
    here.project.options.instead = ({ method, path }) =>
      method === 'GET' && /\/(?:messages|batches)\/./.test(path) ? refusal(404, 'not_found') : undefined;
    expect(await here.run('jobs resume july --same-project', keyOf('C'))).toMatchObject(
      saying(11, 'this API key belongs to another project'),
    );
    expect(here.project.messages).toHaveLength(2);
  });

  it('does not continue after a key that an earlier release did not check and that sent nothing', async () => {
    const here = await partlySent();
    const plan = readFileSync(here.jobFile('july', 'plan.json'), 'utf8');
    const { salt } = JSON.parse(plan.slice(plan.indexOf('{'))).meta.account;
    const hash = createHash('sha256').update(`${salt}\0${otherKey.env.URTUU_API_KEY}`).digest('hex');
    appendFileSync(here.jobFile('july', 'journal'), checksummed([['account', hash, false]]));
    expect(await here.run('jobs resume july --same-project', keyOf('C'))).toMatchObject(
      saying(11, 'none is known to be accepted with the key it used last'),
    );
    expect(here.project.messages).toHaveLength(2);
    expect(await here.run('jobs resume july', otherKey)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it.each([
    [401, 'unauthorized'],
    [404, 'no_such_route'],
  ])(
    'is exit 6 while something is in doubt and the check of the key is answered %i',
    async (status, code) => {
      const here = await deskInDoubt();
      here.project.options.instead = ({ method }) => (method === 'GET' ? refusal(status, code) : undefined);
      expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject({ code: 6 });
      expect(here.project.messages).toHaveLength(2);
    },
  );

  it('does not continue under a key for which the service shows another message', async () => {
    const here = await partlySent();
    here.project.options.instead = ({ method, path }) =>
      method === 'GET' && /\/messages\/./.test(path) ? { body: { id: 'another' } } : undefined;
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject({ code: 5 });
    expect(here.project.messages).toHaveLength(2);
  });

  it('continues with the printed command after Ctrl-C during the check of the key', async () => {
    const here = await partlySent();
    let interrupt: (signal: 'SIGINT') => void = () => {};
    const { fetch } = here.project.service;
    const { code, stderr } = await here.run('jobs resume july --same-project', {
      ...otherKey,
      onSignal: (listener) => {
        interrupt = listener;
        return () => {};
      },
      fetch: async (url, init) => {
        if (/\/messages\/./.test(url)) interrupt('SIGINT');
        return fetch(url, init);
      },
    });
    expect(code).toBe('SIGINT');
    expect(printed(stderr)).toBe('jobs resume july --same-project');
    expect(await here.run(printed(stderr), otherKey)).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('is known by its admitted key: a second Ctrl-C prints the command without --same-project', async () => {
    const here = await partlySent();
    let interrupt: (signal: 'SIGINT') => void = () => {};
    const { fetch } = here.project.service;
    const { code, stderr } = await here.run('jobs resume july --same-project', {
      ...otherKey,
      onSignal: (listener) => {
        interrupt = listener;
        return () => {};
      },
      fetch: async (url, init) => {
        if (init.method === 'POST') for (const signal of ['SIGINT', 'SIGINT'] as const) interrupt(signal);
        return fetch(url, init);
      },
    });
    expect(code).toBe('SIGINT');
    expect(stderr).toMatch(/Stopped\. .* Resume with: urtuu jobs resume july\n/);
  });

  it('does not continue under another key without --same-project', async () => {
    const here = await partlySent();
    for (const line of ['jobs resume july', personal, 'jobs resume july --if-finished ok']) {
      expect(await here.run(line, otherKey)).toMatchObject(saying(11, 'started with another API key'));
    }
    expect(here.project.messages).toHaveLength(2);
    here.project.balance = 10;
    expect(await here.run('jobs resume july --same-project', otherKey)).toMatchObject({ code: 7 });
    here.project.balance = 1_000;
    // It is remembered, and the first key is still good.
    expect(await here.run('jobs resume july', otherKey)).toMatchObject({ code: 0 });
    expect(await here.run('jobs resume july --if-finished ok')).toMatchObject({ code: 0 });
    expect([...here.project.received().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  it('that is finished says so, and counts as no success of this key', async () => {
    const here = desk(people(2));
    await here.run(personal);
    for (const line of [personal, `${personal} --if-finished ok`, 'jobs resume july --if-finished ok']) {
      expect(await here.run(line, otherKey)).toMatchObject(
        saying(11, /the job july finished at .*, under another API key/),
      );
    }
    expect(await here.run(`${personal} --again`, otherKey)).toMatchObject({ code: 0 });
  });

  it('keeps no key, and nothing that two jobs have in common', async () => {
    const here = desk(people(2));
    await here.run(constant);
    await here.run(constant.replace('july', 'june'));
    const planOf = (job: string) => readFileSync(here.jobFile(job, 'plan.json'), 'utf8');
    expect(planOf('july')).not.toMatch(/urtuu_A/);
    const account = (job: string) => JSON.parse(planOf(job).slice(planOf(job).indexOf('{'))).meta.account;
    expect(account('july')).toEqual({
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(account('july').hash).not.toBe(account('june').hash);
  });
});
