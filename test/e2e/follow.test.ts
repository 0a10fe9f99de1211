import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();

const env = { URTUU_SANDBOX: '1' };

it('messages list --follow shows a message that another process sends, until Ctrl-C', async () => {
  const send = (to: string) => machine.run(['sms', 'send', to, 'hi', '--value', 'id'], { env });
  const first = (await send('99112233')).stdout.trim();
  const child = machine.start(['messages', 'list', '--follow', '-o', 'ndjson'], { env });
  const exited = once(child, 'exit');
  const ids: string[] = [];
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    ids.push(JSON.parse(line).id);
    if (ids.length === 1) ids.push((await send('99112244')).stdout.trim());
    else child.kill('SIGINT');
  }
  expect(ids).toEqual([first, ids[1], ids[1]]);
  expect(await exited).toEqual([null, 'SIGINT']);
});
