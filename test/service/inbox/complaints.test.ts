import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMail } from '../../../src/service/inbox/read-mail.js';
import { CarrierServices } from '../../support/carrier-services.js';
import { caller } from '../../support/cores.js';
import { Relay } from '../../support/relay.js';

/** Complaints as providers write them, with `{sender}` for the envelope sender of the mail. */
const folder = resolve(import.meta.dirname, '../../fixtures/complaints');
const complaintOf = (name: string, sender: string) =>
  readFileSync(join(folder, name), 'utf8').replaceAll('{sender}', sender);
const standard = (sender: string) => complaintOf('standard.eml', sender);

describe('a complaint', () => {
  it.each(readdirSync(folder))('is read as %s, and is no bounce', async (name) => {
    const lines = complaintOf(name, 'sender@b.example.mn');
    for (const raw of [lines, lines.replaceAll('\n', '\r\n')]) {
      const { report, complaint } = await readMail(Buffer.from(raw));
      expect(report).toBeNull();
      expect(new Set(complaint?.senders)).toEqual(new Set(['sender@b.example.mn']));
    }
  });

  it.each<[string, (report: string) => string]>([
    ...[
      'not-spam',
      'auth-failure',
      'fraud',
      'virus',
      'other',
      'dmarc',
      'abuse\nFeedback-Type: not-spam',
      '',
    ].map(
      (type) =>
        [
          `of type ${JSON.stringify(type)}`,
          (report: string) => report.replace('Feedback-Type: abuse', `Feedback-Type: ${type}`),
        ] as [string, (report: string) => string],
    ),
    ['without a type', (report) => report.replace('Feedback-Type: abuse\n', '')],
    ['in words alone', (report) => report.replace('message/feedback-report', 'text/plain')],
    ['that somebody forwards', (report) => `From: a@b.mn\nContent-Type: message/rfc822\n\n${report}`],
    [
      'that somebody attaches',
      (report) =>
        `From: a@b.mn\nContent-Type: multipart/mixed; boundary=y\n\n--y\n\nSee\n--y\nContent-Type: message/rfc822\n\n${report}\n--y--`,
    ],
  ])('is none %s', async (_, changed) => {
    expect((await readMail(Buffer.from(changed(standard('a@b.mn'))))).complaint).toBeNull();
  });
});

describe('a complaint about an email', () => {
  let services: CarrierServices;
  let relay: Relay;
  const administration = () => services.core.administration;
  const receive = (raw: string, ...to: string[]) => administration().receiveMail(Buffer.from(raw), to);
  const suppressed = async () =>
    (await administration().suppressions.list()).data.map(({ to, reason }) => `${to} ${reason}`);

  beforeEach(async () => {
    [relay, services] = [new Relay(), new CarrierServices()];
    const smtp = `smtp://127.0.0.1:${await relay.listen()}`;
    const email = { smtp, from: 'no-reply@example.mn', bounce_domain: 'b.example.mn' };
    await services.open(services.configured('simulated', email));
  });
  afterEach(async () => {
    await services.closeAll();
    await relay.close();
  });

  async function send(to = 'Bold@example.com') {
    const params = { to, subject: 'Hi', text: 'Hi' };
    const { operations } = services.core;
    const sending = operations.sendEmail({ caller, params, idempotencyKey: null, isBulk: true });
    const { id } = (await sending).body as { id: string };
    await services.pass(async () => (await operations.getMessage(caller, id)).status !== 'queued');
    return { id, ...(relay.taken.at(-1) as { from: string; raw: string }) };
  }

  it.each<[string, (from: string) => [raw: string, to?: string]]>([
    ...readdirSync(folder).map((name) => [name, (from: string) => [complaintOf(name, from)]] as const),
    ['in capitals', (from) => [standard(from.toUpperCase())]],
    ['to its bounce address', (from) => [standard('redacted'), from]],
    [
      'to its bounce address, by its header',
      (from) => [standard('redacted').replace('abuse@example.mn', from)],
    ],
  ] as [string, (from: string) => [string, string?]][])(
    'suppresses its recipient, whatever the setting: %s',
    async (_, of) => {
      const { id, from } = await send();
      const [raw, to] = of(from);
      for (let times = 0; times < 2; times += 1)
        expect(await receive(raw, ...(to === undefined ? [] : [to]))).toBe('complained');
      expect(await suppressed()).toEqual(['bold@example.com opt_out']);
      expect((await services.core.operations.getMessage(caller, id)).delivery).toBeNull();
      expect((await administration().inbox()).data).toEqual([]);
    },
  );

  it('counts only with what this service alone can write', async () => {
    const { id, from } = await send();
    const forged = from.replace(/\.(.)/, (_, first) => `.${first === '0' ? '1' : '0'}`);
    const others = [forged, `${id}@b.example.mn`, `bounce+${id}@b.example.mn`, 'bold@example.com', ''];
    for (const sender of others)
      await expect(receive(standard(sender).replaceAll(/<018f.*@/g, `<${id}@`))).rejects.toMatchObject({
        code: 'not_found',
      });
    expect(await receive(standard(from).replace('abuse\n', 'not-spam\n'), from)).toBe('ignored');
    expect(await suppressed()).toEqual([]);
  });

  it('is known by its link to unsubscribe too, also once it is pruned', async () => {
    await services.core.store.recordDashboard('https://sms.example.mn', 'https://sms.example.mn');
    await administration().settings.update({ list_unsubscribe: 'hosted' });
    const { from, raw } = await send();
    const link = /^List-Unsubscribe: (<.*>)$/m.exec(raw)?.[1] ?? '';
    services.clock.advance(3 * 86_400_000);
    await administration().prune({ olderMs: 2 * 86_400_000 });
    const withLink = (written: string) =>
      standard(from).replace('From: Shop', `List-Unsubscribe: ${written}\nFrom: Shop`);
    expect(await receive(withLink(link.replace('/u/', '/v/')), from)).toBe('ignored');
    expect(await suppressed()).toEqual([]);
    expect(await receive(withLink(link))).toBe('complained');
    expect(await suppressed()).toEqual(['bold@example.com opt_out']);
  });
});
