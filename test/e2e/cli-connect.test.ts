import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Machine, root } from '../support/binary.js';
import { smsResult } from '../support/resources.js';

const fixtures = join(root, 'test/fixtures/tls');
const machine = new Machine();
afterAll(() => machine.remove());
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const send = (baseUrl: string, env: NodeJS.ProcessEnv = {}) =>
  machine.run(['sms', 'send', '99112233', 'hi', '--max-retries', '0', '--base-url', baseUrl], {
    env: { URTUU_API_KEY: 'a-key', ...env },
  });

describe('a single send over TLS', () => {
  const body = JSON.stringify(smsResult());
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const serving = (certificate: string) =>
    listen(
      createTlsServer(
        {
          key: readFileSync(join(fixtures, 'key.pem')),
          cert: readFileSync(join(fixtures, `${certificate}.pem`)),
        },
        (socket) => socket.on('error', () => {}).on('data', () => socket.write(answer)),
      ),
    );
  const ca = { NODE_EXTRA_CA_CERTS: join(fixtures, 'ca.pem') };

  it.each<[string, string, string, NodeJS.ProcessEnv]>([
    ['self-signed', 'is self-signed', 'NODE_EXTRA_CA_CERTS', {}],
    ['unknown-issuer', 'its certificate has an unknown issuer', 'NODE_EXTRA_CA_CERTS', {}],
    ['expired', 'has expired', 'new certificate', ca],
    [
      'other-host',
      'is for another host',
      'Check the base URL',
      { NODE_EXTRA_CA_CERTS: join(fixtures, 'other-host.pem') },
    ],
  ])(
    'with a certificate that is %s says so, and that nothing was sent',
    async (certificate, fault, hint, env) => {
      const { code, stderr } = await send(`https://127.0.0.1:${await serving(certificate)}/v1`, env);
      expect(stderr).toContain(fault);
      expect(stderr).toContain('Nothing was sent.');
      expect(stderr).toContain(hint);
      expect(code).toBe(5);
    },
  );

  it('goes through with NODE_EXTRA_CA_CERTS, as the hint says', async () => {
    const port = await serving('self-signed');
    const env = { NODE_EXTRA_CA_CERTS: join(fixtures, 'self-signed.pem') };
    expect(await send(`https://127.0.0.1:${port}/v1`, env)).toMatchObject({ code: 0 });
  });
});

describe('a single send that arrived', () => {
  it.each([
    [
      '101 Switching Protocols',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ],
    ['nothing, and the connection closed', ''],
    ['a 200 that is empty', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
  ])('and is answered with %s is in doubt, with its key', async (_, head) => {
    const port = await listen(createServer((socket) => socket.once('data', () => socket.end(head))));
    const { code, stdout, stderr } = await send(`http://127.0.0.1:${port}/v1`);
    expect(stderr).toMatch(/It may have been sent\. Repeat it with --idempotency-key [0-9a-f-]{36}/);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
  });
});
