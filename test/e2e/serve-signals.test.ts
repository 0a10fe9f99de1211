import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { printed, root } from '../support/binary.js';
import { emptyMachine } from '../support/machines.js';

const machine = emptyMachine();
const fixture = (name: string) => join(root, 'test/fixtures/tls', name);

describe.skipIf(process.platform === 'win32')('urtuu serve', () => {
  it('opens no debugger at SIGUSR1', async () => {
    const { child, ended, base_url } = await machine.serve();
    child.kill('SIGUSR1');
    expect((await fetch(base_url.replace('/v1', '/healthz'))).status).toBe(200);
    child.kill('SIGTERM');
    const { signal, stderr } = await ended;
    expect(signal).toBe('SIGTERM');
    expect(stderr).not.toContain('Debugger');
  });

  it('is not ready after SIGTERM, serves on, and ends at the second', async () => {
    const { child, ended, base_url } = await machine.serve(['--drain-time', '60']);
    const statusOf = async (path: string) => (await fetch(base_url.replace('/v1', path))).status;
    expect(await statusOf('/readyz')).toBe(200);
    child.kill('SIGTERM');
    await vi.waitUntil(async () => (await statusOf('/readyz')) === 503, { timeout: 10_000 });
    for (const path of ['/healthz', '/v1/openapi.json']) expect(await statusOf(path)).toBe(200);
    child.kill('SIGTERM');
    expect((await ended).signal).toBe('SIGTERM');
  });

  it('reads its certificate again at SIGHUP, and keeps the old one where the new one cannot be used', async () => {
    const [cert, key] = [join(machine.home, 'cert.pem'), join(machine.home, 'key.pem')];
    copyFileSync(fixture('unknown-issuer.pem'), cert);
    copyFileSync(fixture('key.pem'), key);
    const { child, ended, base_url } = await machine.serve(['--tls-cert', cert, '--tls-key', key]);
    const serial = async () => {
      const socket = connect({
        port: Number(new URL(base_url).port),
        host: '127.0.0.1',
        rejectUnauthorized: false,
      });
      await once(socket, 'secureConnect');
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const first = await serial();
    const bad = async (file: string, text: string, why: RegExp) => {
      writeFileSync(file, text);
      child.kill('SIGHUP');
      await printed(child, 'stderr', why);
      expect(await serial()).toBe(first);
    };
    await bad(cert, 'half', /The certificate stays as it was: cannot use /);
    await bad(cert, '', /The certificate stays as it was: .* the certificate is empty/s);
    copyFileSync(fixture('self-signed.pem'), cert);
    await bad(key, '', /The certificate stays as it was: .* the key is empty/s);
    copyFileSync(fixture('key.pem'), key);
    copyFileSync(fixture('self-signed.pem'), cert);
    child.kill('SIGHUP');
    await vi.waitUntil(async () => (await serial()) !== first, { timeout: 10_000 });
    child.kill('SIGTERM');
    expect((await ended).signal).toBe('SIGTERM');
  });
});
