import { spawnSync } from 'node:child_process';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { createService } from '../../src/service/index.js';
import { needProgram } from './programs.js';

const program = '/usr/bin/promtool';
beforeAll(() => needProgram(program, 'prometheus'));

it('promtool has nothing to say of the metrics, before the first request and after every kind', async () => {
  const service = await createService({ metrics: true });
  onTestFinished(() => service.close());
  const { url } = await service.listen({ port: 0, metrics: true });
  const send = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then((answer) => answer.text());
  const lint = async () => {
    const input = await (await fetch(url.replace('/v1', '/metrics'))).text();
    const { status, stdout, stderr } = spawnSync(program, ['check', 'metrics'], { input, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  expect(await lint()).toEqual({ status: 0, said: '' });
  await send('/sms', { to: '99112233', text: 'Hello' });
  await send('/sms', { to: '99000001', text: 'Hello' });
  await send('/email/bulk', { to: ['a@example.mn', 'b@example.mn'], subject: 'S', text: 'T' });
  await send('/verify', { to: '88112233' });
  await send('/nothing', {});
  await service.administration.idle();
  expect(await lint()).toEqual({ status: 0, said: '' });
});
