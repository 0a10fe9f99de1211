import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';
import { smsResult } from '../support/resources.js';

const machine = emptyMachine();

// Certificates that are not trusted, and answers that are none: test/cli/network/connect.test.ts, and their words
// and exits in test/cli/exit-codes.test.ts.
it('a single send over TLS goes through with NODE_EXTRA_CA_CERTS, as the hint says', async () => {
  const file = (name: string) => join(root, 'test/fixtures/tls', name);
  const tls = { key: readFileSync(file('key.pem')), cert: readFileSync(file('self-signed.pem')) };
  const body = JSON.stringify(smsResult());
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const server = createServer(tls, (socket) =>
    socket.on('error', () => {}).on('data', () => socket.end(answer)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const send = (env: NodeJS.ProcessEnv) =>
    machine.run(['sms', 'send', '99112233', 'hi', '--max-retries', '0', '--base-url', url], {
      env: { URTUU_API_KEY: 'a-key', ...env },
    });
  const { code, stderr } = await send({});
  expect([code, stderr]).toEqual([5, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
  expect(stderr).toMatch(/is self-signed[\s\S]*Nothing was sent\./);
  expect(await send({ NODE_EXTRA_CA_CERTS: file('self-signed.pem') })).toMatchObject({ code: 0 });
  server.close();
});
