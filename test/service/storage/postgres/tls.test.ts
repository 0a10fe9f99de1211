import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { databaseError } from '../../../../src/cli/commands/serve/database.js';
import { newClient } from '../../../../src/service/storage/postgres/database/connection.js';
import { Connections } from '../../../../src/service/storage/postgres/database/connections.js';
import { isPlainText, withTls } from '../../../../src/service/storage/postgres/database/tls.js';

const fixtures = join(import.meta.dirname, '../../../fixtures/tls');
const file = (name: string) => join(fixtures, `${name}.pem`);
const db = 'postgres://db/urtuu';

it.each([
  ['nothing', db, {}, db],
  ['require', `${db}?sslmode=require`, {}, `${db}?sslmode=verify-full`],
  ['prefer', `${db}?sslmode=prefer&user=a`, {}, `${db}?sslmode=verify-full&user=a`],
  ['allow', `${db}?user=a&sslmode=allow`, {}, `${db}?user=a&sslmode=verify-full`],
  ['verify-ca', `${db}?sslmode=verify-ca&sslrootcert=c`, {}, `${db}?sslmode=verify-full&sslrootcert=c`],
  ['no-verify', `${db}?sslmode=no-verify`, { PGSSLROOTCERT: 'c' }, `${db}?sslmode=no-verify`],
  ['disable', `${db}?sslmode=disable`, { PGSSLMODE: 'require', PGSSLROOTCERT: 'c' }, `${db}?sslmode=disable`],
  ['the system', `${db}?sslmode=require&sslrootcert=system`, {}, `${db}?&sslmode=verify-full`],
  [
    'the system, after a weaker check',
    `${db}?uselibpqcompat=true&sslmode=require&sslrootcert=system`,
    {},
    `${db}?&sslmode=verify-full`,
  ],
  ['PGSSLMODE', db, { PGSSLMODE: 'require' }, db],
  ['PGSSLROOTCERT', db, { PGSSLMODE: 'require', PGSSLROOTCERT: '/a b' }, `${db}?sslrootcert=%2Fa%20b`],
  ['PGSSLROOTCERT alone', db, { PGSSLROOTCERT: 'c' }, db],
  [
    'a file in the URL before PGSSLROOTCERT',
    `${db}?sslmode=require&sslrootcert=a`,
    { PGSSLROOTCERT: 'c' },
    `${db}?sslmode=verify-full&sslrootcert=a`,
  ],
] as const)('TLS of PostgreSQL is never weaker than asked for: %s', (_, url, env, expected) => {
  expect(withTls(url, env)).toBe(expected);
});

it.each([
  [`${db}?sslmode=requrie`, {}, 'sslmode is none of disable'],
  [db, { PGSSLMODE: 'on' }, 'PGSSLMODE is none of disable'],
  [`${db}?uselibpqcompat=true&sslmode=verify-ca`, {}, 'needs the certificate of an authority'],
])('an unknown mode of TLS is refused, not taken for plain text: %s %o', (url, env, message) => {
  expect(() => withTls(url, env)).toThrow(message);
});

it.each([
  ['postgres://db/urtuu', true],
  ['postgres://10.0.0.7/urtuu?sslmode=disable', true],
  ['postgres:///urtuu?host=db', true],
  ['postgres://db/urtuu?sslmode=require', false],
  ['postgres://localhost/urtuu', false],
  ['postgres://127.0.0.1:5433/urtuu?sslmode=disable', false],
  ['postgres://[::1]/urtuu', false],
  ['postgres:///urtuu?host=/run/postgresql', false],
] as const)('plain text to PostgreSQL at %s: %s', (url, expected) => {
  expect(isPlainText(newClient(url))).toBe(expected);
});

/** PostgreSQL up to the end of its TLS handshake; without a certificate it has no TLS. */
async function serverWith(certificate: string | null): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', () => {
      socket.write(certificate === null ? 'N' : 'S');
      if (certificate === null) return;
      const secureContext = createSecureContext({
        cert: readFileSync(file(certificate)),
        key: readFileSync(file('key')),
      });
      new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

it.each([
  [null, 'sslmode=prefer', 'the server has no TLS', 'sslmode=disable'],
  ['self-signed', 'sslmode=require', 'its certificate cannot be checked: self', 'sslrootcert='],
  ['unknown-issuer', 'sslmode=require', 'its certificate cannot be checked: unable', 'sslrootcert='],
  ['other-host', `sslrootcert=${file('other-host')}`, 'its certificate is for another name', 'with a name'],
  ['expired', `sslrootcert=${file('ca')}`, 'certificate has expired', 'Renew'],
  ['self-signed', 'sslrootcert=/nowhere.pem', 'ENOENT', 'Check sslrootcert'],
])(
  'a server with the certificate %s, and %s: one sentence and its way out',
  async (certificate, query, words, way) => {
    const warned = vi.spyOn(process, 'emitWarning');
    onTestFinished(() => warned.mockRestore());
    const url = `postgres://urtuu@localhost:${await serverWith(certificate)}/urtuu?${query}`;
    const connecting = (async () => newClient(url).connect())();
    const error = await connecting.then(
      () => null,
      (cause) => databaseError(url, cause),
    );
    expect(error?.message).toContain(words);
    expect(error?.hint).toContain(way);
    expect(warned).not.toHaveBeenCalled();
  },
);

it('a file of TLS that goes away fails statements, and ends no process', async () => {
  const reported: unknown[] = [];
  const connections = new Connections({
    url: `${db}?sslrootcert=/nowhere.pem`,
    size: 1,
    report: (error) => reported.push(error),
  });
  await expect(connections.query('SELECT 1', [])).rejects.toMatchObject({
    failure: 'not_sent',
    code: 'ENOENT',
  });
  expect(reported).toHaveLength(1);
});
