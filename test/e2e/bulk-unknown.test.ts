import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statuses } from '../../src/service/carriers/smpp/codec/commands.js';
import { Machine, outcomeOf } from '../support/binary.js';
import { smppRoute } from '../support/routes.js';
import { saying } from '../support/saying.js';
import { Smsc } from '../support/smsc.js';
import { openAccounts } from '../torture/service/books.js';
import { type Server, served } from '../torture/service/server.js';
import { wrongClock } from '../torture/wrong-clock.js';

const window = 10;
const all = Array.from({ length: 60 }, (_, index) => String(99_100_000 + index));
/** When the service dies, these are with the operator or on their way to it, and none is answered. */
const atTheKill = all.slice(30, 30 + window);
const refused = all.slice(-2);
const single = all.slice(0, 3);

describe('a job that waits, over a service that dies in the middle of its sends', () => {
  const machine = new Machine();
  const smsc = new Smsc();
  const environment: NodeJS.ProcessEnv = { PASSWORD: 'secret', ...wrongClock(0) };
  let server: Server;
  let env: NodeJS.ProcessEnv;
  let dies = () => {};
  const died = new Promise<void>((resolve) => {
    dies = resolve;
  });

  beforeAll(async () => {
    let unanswered = 0;
    smsc.options.react = ({ to }) => {
      if (refused.includes(to)) return statuses.invalidRecipient;
      if (!atTheKill.includes(to)) return 'take';
      unanswered += 1;
      if (unanswered === window) setImmediate(dies);
      return unanswered % 2 === 0 ? 'lost' : 'unanswered';
    };
    const route = smppRoute(await smsc.listen(), { window });
    const file = join(machine.home, 'service.json');
    writeFileSync(file, JSON.stringify({ email: 'off', sms: { routes: [route] } }));
    const directory = join(machine.home, 'service');
    const [account] = await openAccounts(directory, 1);
    server = served(machine, directory, environment, ['--config', file]);
    await server.start();
    env = { URTUU_BASE_URL: server.url, URTUU_API_KEY: account?.keys[0] };
  });
  afterAll(async () => {
    await server.end('SIGKILL');
    await smsc.close();
    machine.remove();
  });

  it('says of everybody what is known, in every place, and what to do', async () => {
    const rows = all.map((to) => `${to},${single.includes(to) ? `Hello ${to}` : 'Hello'}`);
    writeFileSync(join(machine.home, 'list.csv'), ['phone,text', ...rows, ''].join('\n'));
    const report = join(machine.home, 'report.csv');
    const job = outcomeOf(
      machine.start(
        [
          ...['sms', 'bulk', 'list.csv', '--text', '{text}', '--job', 'july', '--yes', '--wait', '--json'],
          ...['--report', report],
        ],
        { env, cwd: machine.home },
      ),
    );
    await died;
    await server.end('SIGKILL');
    await server.start();
    await server.end('SIGTERM');
    // Five minutes pass, in which a receipt might have come.
    Object.assign(environment, wrongClock(20 * 60_000));
    await server.start();
    const { code, stdout, stderr } = await job;

    const counts = { planned: 60, sent: 48, unknown: window, queued: 0, failed: 2, in_doubt: 0, pending: 0 };
    const figures = JSON.parse(stdout);
    expect([code, figures]).toEqual([3, expect.objectContaining({ ...counts, accepted: 58, exit: 3 })]);
    const said = '48 sent, 2 failed and refunded, 10 unknown: they may have arrived, and are not sent again.';
    expect(JSON.parse(stderr).error).toMatchObject({
      exit: 3,
      message: said,
      hint: expect.stringMatching(
        /^To see who they are: .*urtuu jobs report july --report \S*\/july-report\.csv --base-url \S+$/,
      ),
    });

    const taken = smsc.taken.map(({ to }) => to);
    const outcomes = readFileSync(report, 'utf8')
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((row) => row.split(','));
    const are = (status: string, delivery: string) =>
      outcomes.filter((cells) => cells[4] === status && cells[8] === delivery).map(([to]) => to);
    const sent = are('sent', '');
    const unknown = are('sent', 'unknown');
    const failed = are('failed', '');
    expect(unknown).toEqual(atTheKill);
    expect(failed).toEqual(refused);
    expect(sent).toHaveLength(48);
    // Every `sent` is in the operator's record once, no `failed` is, and of the unknown nobody knows it.
    for (const to of sent) expect(taken.filter((each) => each === to)).toHaveLength(1);
    for (const to of failed) expect(taken).not.toContain(to);
    expect(atTheKill.filter((to) => taken.includes(to))).toHaveLength(window / 2);
    expect(new Set(taken).size).toBe(taken.length);

    const urtuu = (...args: string[]) => machine.run(args, { env, cwd: machine.home });
    const [{ id }] = figures.batches;
    const batch = JSON.parse((await urtuu('batches', 'get', id, '--json')).stdout);
    expect(batch).toMatchObject({ total: 57, sent: 55, failed: 2, unknown: window });
    expect(figures.batches).toMatchObject([{ recipients: 57, sent: 55, failed: 2, unknown: window }]);
    expect(JSON.parse((await urtuu('jobs', 'show', 'july', '--json')).stdout)).toMatchObject(counts);
    expect(JSON.parse((await urtuu('jobs', 'list', '--json')).stdout)).toMatchObject([counts]);
    const watched = await urtuu('jobs', 'watch', 'july');
    expect(watched).toMatchObject(saying(3, `${said} To see who they are: `));
    expect(watched.stdout).toMatch(/\nsent +48\nunknown +10\nfailed +2\n/);
  }, 120_000);
});
