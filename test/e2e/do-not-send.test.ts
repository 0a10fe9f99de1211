import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { emptyMachine } from '../support/machines.js';
import { saying } from '../support/saying.js';

const machine = emptyMachine();
const list = ['99112233,Bat', '99112244,Sara', '88112233,Dorj'];
const urtuu = (line: string, env: NodeJS.ProcessEnv) =>
  machine.run(line.split(' '), { env, cwd: machine.home });

it.each(['the sandbox', 'a service'])(
  'the do-not-send list of %s is obeyed, and said, by every send',
  { timeout: 60_000 },
  async (where) => {
    const isSandbox = where === 'the sandbox';
    const server = isSandbox ? null : await machine.serve();
    const env = server === null ? { URTUU_SANDBOX: '1' } : server.client;
    const here = (line: string) => urtuu(line, env);
    const json = async (line: string) => JSON.parse((await here(`${line} --json`)).stdout);
    writeFileSync(join(machine.home, 'list.csv'), ['phone,name', ...list, ''].join('\n'));
    writeFileSync(join(machine.home, 'left.csv'), 'phone\n9911 2233\n');

    expect(await here('service suppressions add --from-file left.csv --reason opt_out')).toMatchObject({
      code: 0,
    });
    const refused = await here('sms send 99112233 Hi');
    expect(refused).toMatchObject(saying(8, '99112233 is on the do-not-send list: opt_out'));
    const way = /urtuu (service suppressions remove .*)\n/.exec(refused.stderr)?.[1] ?? '';
    // Who left a campaign can log in.
    expect(await here('verify create 99112233')).toMatchObject({ code: 0 });

    for (const [job, text, credits] of [
      ['batch', 'Hello', 30],
      ['singles', 'Hello-{name}', 20],
    ] as const) {
      const line = `sms bulk list.csv --text ${text} --job ${job} --yes --wait --report ${job}.csv`;
      const { code, stderr } = await here(line);
      expect(code).toBe(0);
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
        'Suppressed 1 of 3 is on the do-not-send list and will be left out (10 credits come back)',
      );
      expect(stderr).toContain('2 sent, 1 suppressed (on the do-not-send list). Every outcome is known.\n');
      expect(readFileSync(join(machine.home, `${job}.csv`), 'utf8')).toMatch(
        /\n99112233,Bat,.*,suppressed,recipient_suppressed,/,
      );
      expect(await json(`jobs show ${job}`)).toMatchObject({
        sent: 2,
        suppressed: 1,
        failed: 0,
        credits,
        exit: 0,
      });
    }
    expect(await here('jobs retry batch --yes')).toMatchObject(saying(11, 'has no failed messages'));

    expect(await here(way)).toMatchObject({ code: 0 });
    expect(await here('sms send 99112233 Hi')).toMatchObject({ code: 0 });
    expect(await here('sms bulk list.csv --text Hello --job later --skip-sent --yes --wait')).toMatchObject(
      saying(0, '1 sent.'),
    );
    server?.child.kill('SIGTERM');
    await server?.ended;
  },
);
