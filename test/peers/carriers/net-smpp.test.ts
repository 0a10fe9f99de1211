import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../../src/contract/index.js';
import { printed } from '../../support/binary.js';
import { needPerlModule } from '../programs.js';
import { startService, until } from './service.js';

/** Net::SMPP as a centre: the route to it, and what it printed. */
async function startCentre(password: string) {
  needPerlModule('Net::SMPP', 'libnet-smpp-perl');
  const child = spawn('perl', [join(import.meta.dirname, 'centre.pl'), password]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  child.stdout.on('data', (text) => lines.push(...String(text).trim().split('\n')));
  const [, port] = /port (\d+)/.exec(await printed(child, 'stdout', /port \d+\n/)) ?? [];
  const route = {
    name: 'Mobicom',
    smpp: `smpp://127.0.0.1:${port}`,
    system_id: 'urtuu',
    password: { env: 'SMSC_PASSWORD' },
    source: '139911',
    receipt_id: 'hex_to_dec',
    prefixes: ['99'],
  };
  return { configuration: { email: 'off', sms: { routes: [route] } }, lines };
}

it('Net::SMPP takes an SMS of three parts in Cyrillic, and its receipts make it delivered', async () => {
  const { configuration, lines } = await startCentre('secret');
  const { json } = await startService(configuration, { SMSC_PASSWORD: 'secret' });
  const text = 'Сайн байна уу? Таны захиалга бэлэн боллоо. '.repeat(4);
  const { id, parts } = await json<Message & { parts: number }>('sms', 'send', '99112233', text);
  expect(parts).toBe(3);
  const message = await until(async () => {
    const read = await json<Message>('messages', 'get', id);
    return read.delivery === null ? null : read;
  });
  expect(message).toMatchObject({ status: 'sent', delivery: 'delivered' });
  const submits = lines.filter((line) => line.startsWith('submit')).map((line) => line.split(' '));
  const fields = submits.map(([, source, to, coding, esm, receipt, validity]) =>
    [source, to, coding, esm, receipt, validity].join(' '),
  );
  expect(fields).toEqual(Array.from({ length: 3 }, () => '139911 97699112233 8 64 1 000001000000000R'));
  const bytes = submits.map((fields) => Buffer.from(fields[7] ?? '', 'hex'));
  expect(bytes.map((each) => [...each.subarray(5, 7)])).toEqual([
    [3, 1],
    [3, 2],
    [3, 3],
  ]);
  const whole = Buffer.concat(bytes.map((each) => each.subarray(7)));
  expect(whole.swap16().toString('utf16le')).toBe(text);
  expect(lines.filter((line) => line.startsWith('acknowledged'))).toEqual(
    Array.from({ length: 3 }, () => 'acknowledged 0'),
  );
});

it('Net::SMPP refuses a wrong password, and the check says so', async () => {
  const { configuration, lines } = await startCentre('other');
  const { check } = await startService(configuration, { SMSC_PASSWORD: 'secret' });
  const { code, stdout } = await check();
  expect([code, stdout]).toEqual([5, expect.stringContaining('refused the password (0x0e)')]);
  expect(lines.filter((line) => line.startsWith('submit'))).toEqual([]);
});
