import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Machine, outcomeOf } from '../support/binary.js';
import { ProjectServer } from '../support/project-server.js';
import { refusal, testKey } from '../support/run.js';

const me = '99112233';

describe('a proof whose process is killed while its second message is sent', () => {
  const machine = new Machine();
  let server: ProjectServer;
  beforeAll(async () => {
    server = await ProjectServer.start();
    server.saysReplays = true;
    writeFileSync(join(machine.home, 'list.csv'), 'phone,name\n99000001,Bat\n99000002,Tsetseg\n');
  });
  afterAll(async () => {
    await server.close();
    machine.remove();
  });

  it.each([
    ['before the service has it', false, 0],
    ['after the service has it', true, 11],
  ])('is sent whole by a repeat, and nothing twice: %s', async (name, isAccepted, exit) => {
    server.reset();
    const { project } = server;
    const env = { URTUU_BASE_URL: server.baseUrl, URTUU_API_KEY: testKey };
    const list = join(machine.home, 'list.csv');
    const words = ['sms', 'bulk', list, '--text', `${name}: {name}`, '--yes', '--proof', me];
    const child = machine.start(words, { env });
    project.options.instead = ({ method, headers }) => {
      if (method !== 'POST' || project.sends.length < 2) return undefined;
      if (isAccepted) project.post('sms', me, headers['Idempotency-Key'] ?? '');
      child.kill('SIGKILL');
      return refusal(503, 'unavailable');
    };
    expect(await outcomeOf(child)).toMatchObject({ signal: 'SIGKILL' });
    delete project.options.instead;
    expect(project.received().get(me)).toBe(isAccepted ? 2 : 1);
    expect(await machine.run(words, { env })).toMatchObject({ code: exit });
    expect(await machine.run(words, { env })).toMatchObject({ code: 11 });
    expect(Object.fromEntries(project.received())).toEqual({ [me]: 2 });
  });
});
