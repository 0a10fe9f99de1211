import { cpSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openPlan, readPlanMeta } from '../../../../src/cli/bulk/plan/files/plan-reader.js';
import { pricing as prices } from '../../../support/resources.js';
import { collect, plan, planned, refusal, requestsOf, rowsOf, temporaryFolder } from '../plans.js';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(99_000_000 + index));
const texts = async (outcome: Parameters<typeof requestsOf>[0]) =>
  (await requestsOf(outcome)).map(({ body }) => JSON.parse(body).text);

describe('rows with the same message go together', () => {
  it('as batches of 1,000 where the text is constant', async () => {
    const all = numbers(2_500);
    const outcome = await plan(`phone\n${all.join('\n')}\n`, { text: 'Сайн уу' });
    const requests = await requestsOf(outcome);
    expect(requests.map(({ number, kind, to }) => [number, kind, to.length])).toEqual([
      [0, 'batch', 1_000],
      [1, 'batch', 1_000],
      [2, 'batch', 500],
    ]);
    expect(requests.flatMap(({ to }) => to)).toEqual(all);
    expect(requests.flatMap(({ lines }) => lines)).toEqual(all.map((_, index) => index + 2));
    expect(requests[2]?.body).toBe(JSON.stringify({ to: all.slice(2_000), text: 'Сайн уу' }));
    expect(outcome.meta).toMatchObject({ recipients: 2_500, requests: 3, batches: 3, singles: 0 });
  });

  it('over the whole file, in the order the messages first appear; one alone is a single send', async () => {
    const csv = 'phone,n\n99000001,b\n99000002,a\n99000003,b\n99000004,c\n99000005,a\n';
    const outcome = await plan(csv, { text: 'Hi {n}' });
    expect((await requestsOf(outcome)).map(({ kind, body, lines }) => [kind, body, lines])).toEqual([
      ['batch', '{"to":["99000001","99000003"],"text":"Hi b"}', [2, 4]],
      ['batch', '{"to":["99000002","99000005"],"text":"Hi a"}', [3, 6]],
      ['single', '{"to":"99000004","text":"Hi c"}', [5]],
    ]);
    expect(outcome.meta).toMatchObject({ requests: 3, batches: 2, singles: 1 });
  });

  it('by what is rendered, not by what it was made of', async () => {
    const csv = 'phone,a,b\n99000001,x,yz\n99000002,xy,z\n';
    expect(await texts(await plan(csv, { text: '{a}{b}' }))).toEqual(['xyz']);
    const apart = 'phone,a,b\n99000001,"x\nx",y\n99000002,x,"y\ny"\n99000003,x,y\n';
    expect(await texts(await plan(apart, { text: '{a}-{b}' }))).toEqual(['x\nx-y', 'x-y\ny', 'x-y']);
  });

  it('in bodies of at most 1,000,000 bytes', async () => {
    const list = Array.from({ length: 1_200 }, (_, index) => `name${index}@example.mn`);
    const text = '\u0001'.repeat(165_000);
    const outcome = await plan(`email\n${list.join('\n')}\n`, { channel: 'email', subject: 'Hi', text });
    const requests = await requestsOf(outcome);
    expect(requests.flatMap(({ to }) => to)).toEqual(list);
    const sizes = requests.map(({ body }) => Buffer.byteLength(body));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000_000);
    expect(Math.max(...sizes)).toBeGreaterThan(999_000);
    expect(requests.map(({ to }) => to.length).slice(0, 2)).not.toContain(1_000);
  });

  it('is the same with fewer recipients in memory', async () => {
    const rows = numbers(5_000).map((number, index) => `${number},${index % 7 === 0 ? 'z' : index % 3}`);
    const csv = `phone,n\n${rows.join('\n')}\n`;
    const whole = await plan(csv, { text: '{n}' });
    const windows = await plan(csv, { text: '{n}', windowRecipients: 1_000 });
    expect(windows.meta.digest).toBe(whole.meta.digest);
    expect(await requestsOf(windows)).toEqual(await requestsOf(whole));
  });

  it('prices them by kind of text', async () => {
    const pricing = { ...prices, sms: { ...prices.sms, rate_multiplier: 1.5 } };
    const csv = `phone,n\n99000001,a\n99000002,a\n99000003,${'ө'.repeat(61)}\n`;
    const outcome = await plan(csv, { text: '{n}', pricing });
    expect(outcome.meta).toMatchObject({
      cost: [
        { kind: 'latin', recipients: 2, parts: 2, credits: 30 },
        { kind: 'cyrillic', recipients: 1, parts: 2, credits: 30 },
      ],
      credits: 60,
    });
    expect((await requestsOf(outcome)).map(({ credits }) => credits)).toEqual([30, 30]);
    const emails = await plan('email\na@b.mn\nc@b.mn\n', { channel: 'email', subject: 'x', pricing });
    expect(emails.meta.cost).toEqual([{ kind: 'email', recipients: 2, parts: 0, credits: 4 }]);
  });
});

describe('one recipient in several rows', () => {
  it('is merged over the whole file', async () => {
    const all = numbers(1_500);
    const outcome = await plan(`phone\n${all.join('\n')}\n+976 ${all[3]}\n${all[1_200]}\n`);
    expect(outcome.meta).toMatchObject({ recipients: 1_500, merged: 2 });
    expect((await requestsOf(outcome)).flatMap(({ to }) => to)).toEqual(all);
    const rows = await rowsOf(outcome);
    expect(rows.slice(-2).map(({ place }) => place)).toEqual([
      { request: 0, index: 3 },
      { request: 1, index: 200 },
    ]);
  });

  it('is merged by address in any letter case, and sent to as it was first written', async () => {
    const csv = 'email\nBat@b.mn\nbat@B.mn\nBat@B.MN\n bat@b.mn\nbat+1@b.mn\n';
    const outcome = await plan(csv, { channel: 'email', subject: 'x' });
    expect((await requestsOf(outcome))[0]?.to).toEqual(['Bat@b.mn', 'bat+1@b.mn']);
    expect(outcome.meta).toMatchObject({ recipients: 2, merged: 3 });
    expect((await rowsOf(outcome)).map(({ place }) => place?.index)).toEqual([0, 0, 0, 0, 1]);
  });

  const csv = 'phone,n\n99000001,a\n99000002,a\n99000001,b\n99000001,a\n99000002,b\n99000001,b\n';
  it('with another message is an error of the later row', async () => {
    const outcome = await plan(csv, { text: '{n}' });
    expect(outcome.plan).toBeNull();
    expect(outcome.rejects.first).toEqual(
      [4, 6, 7].map(
        (line) => `list.csv:${line}: same recipient as line ${line === 6 ? 3 : 2}, with another message`,
      ),
    );
    const skipped = await plan(csv, { text: '{n}', skipInvalid: true });
    expect(skipped.meta).toMatchObject({ recipients: 2, merged: 1, rejected: 3, requests: 1 });
    expect((await rowsOf(skipped)).map(({ place }) => place?.index ?? null)).toEqual([
      0,
      1,
      null,
      0,
      null,
      null,
    ]);
  });

  it('gets each message once with allowRepeats', async () => {
    const outcome = await plan(csv, { text: '{n}', allowRepeats: true });
    expect((await requestsOf(outcome)).map(({ body }) => body)).toEqual([
      '{"to":["99000001","99000002"],"text":"a"}',
      '{"to":["99000001","99000002"],"text":"b"}',
    ]);
    expect(outcome.meta).toMatchObject({ recipients: 4, merged: 2, rejected: 0 });
    expect((await rowsOf(outcome)).map(({ place }) => [place?.request, place?.index])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [0, 0],
      [1, 1],
      [1, 0],
    ]);
  });

  it('a rejected row takes no recipient away from a good one', async () => {
    const outcome = await plan('phone,n\n99000001,\n99000001,a\n', { text: '{n}', skipInvalid: true });
    expect((await requestsOf(outcome))[0]?.lines).toEqual([3]);
    const emails = { channel: 'email', subject: 'x', text: '{n}', skipInvalid: true } as const;
    expect((await requestsOf(await plan('email,n\na@b.mn,\na@b.mn,a\n', emails)))[0]?.lines).toEqual([3]);
  });
});

/** The plan of rows, done the plain way. */
/** Around a value. */
const unseen =
  /^[\s\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]+|[\s\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]+$/g;

function model(rows: { number: string; name: string }[]) {
  const first = new Map<string, string>();
  const groups = new Map<string, { to: string[]; lines: number[] }>();
  const rejected: number[] = [];
  let merged = 0;
  rows.forEach(({ number, name: written }, index) => {
    const line = index + 2;
    const name = written.normalize('NFC').replace(unseen, '');
    const text = `Hi ${name}`;
    if (name === '' || number === '1') {
      rejected.push(line);
      return;
    }
    const group = groups.get(text) ?? { to: [], lines: [] };
    groups.set(text, group);
    const earlier = first.get(number);
    if (earlier === undefined) {
      first.set(number, text);
      group.to.push(number);
      group.lines.push(line);
    } else if (earlier === text) merged += 1;
    else rejected.push(line);
  });
  const used = [...groups].filter(([, { to }]) => to.length > 0);
  const requests = used.map(([text, { to, lines }]) => ({
    lines,
    body: JSON.stringify({ to: to.length === 1 ? to[0] : to, text }),
  }));
  return { requests, rejected, merged };
}

describe('any list', () => {
  const rows = fc.array(
    fc.record({
      number: fc.constantFrom('1', ...numbers(8)),
      name: fc.oneof(fc.constantFrom('', 'a', 'b', 'ө'), fc.string({ unit: 'grapheme', maxLength: 3 })),
    }),
    { minLength: 1, maxLength: 40 },
  );
  const clean = (name: string) => name.replaceAll('\0', '').replaceAll('\ufffd', '').trim();
  const csvOf = (list: { number: string; name: string }[]) =>
    `phone,name\n${list.map(({ number, name }) => `${number},"${name.replaceAll('"', '""').replace(/[\r\n]/g, '')}"`).join('\n')}\n`;

  it('is planned as the model says, opens again the same, and is the same twice', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (generated) => {
        const list = generated.map(({ number, name }) => ({
          number,
          name: clean(name).replace(/[\r\n]/g, ''),
        }));
        const expected = model(list);
        const outcome = await plan(csvOf(list), { text: 'Hi {name}', skipInvalid: true });
        expect(outcome.rejects.count).toBe(expected.rejected.length);
        expect(outcome.plan === null).toBe(expected.requests.length === 0);
        if (outcome.plan === null) return;
        const requests = await requestsOf(outcome);
        expect(requests.map(({ body, lines }) => ({ body, lines }))).toEqual(expected.requests);
        expect(outcome.meta.merged).toBe(expected.merged);
        for (const { body } of requests) expect(JSON.stringify(JSON.parse(body))).toBe(body);

        const opened = await openPlan(outcome.plan.folder);
        expect(opened.meta).toEqual(outcome.meta);
        expect(await collect(opened.requests())).toEqual(requests);
        const middle = requests.length >> 1;
        expect(await collect(opened.requests(middle))).toEqual(requests.slice(middle));

        const planRows = await collect(opened.rows());
        expect(planRows.map(({ values }) => values)).toEqual(list.map(({ number, name }) => [number, name]));
        for (const { line, place, values } of planRows) {
          expect(place === null).toBe(expected.rejected.includes(line));
          if (place !== null) expect(requests[place.request]?.to[place.index]).toBe(values[0]);
        }
        const again = await plan(csvOf(list), { text: 'Hi {name}', skipInvalid: true, blockBytes: 5 });
        expect(again.meta).toEqual(outcome.meta);
        for (const name of ['bodies', 'chunks', 'lines', 'places', 'errors', 'input.csv']) {
          const one = readFileSync(join(planned(outcome).folder, name));
          const two = readFileSync(join(planned(again).folder, name));
          expect(one.equals(two)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a frozen plan', () => {
  it('is refused when any file of it is not as it was written', async () => {
    const outcome = await plan('phone,n\n99000001,a\n9,b\n', { text: '{n}', skipInvalid: true });
    const { folder } = planned(outcome);
    for (const name of ['bodies', 'chunks', 'lines', 'places', 'errors', 'input.csv', 'plan.json']) {
      const copy = join(temporaryFolder(), 'copy');
      cpSync(folder, copy, { recursive: true });
      truncateSync(join(copy, name), readFileSync(join(copy, name)).length - 2);
      await expect(openPlan(copy), name).rejects.toMatchObject({ name: 'PlanDamaged' });
      cpSync(folder, copy, { recursive: true });
      const bytes = readFileSync(join(copy, name));
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      writeFileSync(join(copy, name), bytes);
      await expect(openPlan(copy), name).rejects.toMatchObject({ name: 'PlanDamaged' });
    }
    expect(await readPlanMeta(folder)).toEqual(outcome.meta);
    await expect(openPlan(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([
    ['bodies', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['bodies', (bytes: Buffer) => Buffer.alloc(bytes.length)],
    ['bodies', (bytes: Buffer) => Buffer.from('{}'.padEnd(bytes.length))],
    ['bodies', (bytes: Buffer) => Buffer.from(bytes.toString().replace(',"99000002"', ' '.repeat(11)))],
    ['lines', (bytes: Buffer) => bytes.subarray(0, -1)],
  ])('gives no request from %s that changed after the check: case %#', async (name, change) => {
    const outcome = await plan('phone\n99000001\n99000002\n');
    const { folder } = planned(outcome);
    const opened = await openPlan(folder);
    const before = readFileSync(join(folder, name));
    writeFileSync(join(folder, name), change(before));
    expect(readFileSync(join(folder, name)).equals(before)).toBe(false);
    await expect(collect(opened.requests())).rejects.toMatchObject({ name: 'PlanDamaged' });
  });

  it('of version 1 is read as it is, without a checksum, and refused where its figures disagree', async () => {
    const outcome = await plan('phone\n99000001\n99000002\n');
    const { folder } = planned(outcome);
    const path = join(folder, 'plan.json');
    const [, ...lines] = readFileSync(path, 'utf8').split('\n');
    const record = JSON.parse(lines.join('\n'));
    const { run: _, account: __, ...meta } = record.meta;
    const write = (changed: object) => {
      writeFileSync(path, JSON.stringify({ ...record, meta: { ...meta, version: 1, ...changed } }, null, 2));
    };
    write({});
    const opened = await openPlan(folder);
    expect(opened.meta).toEqual({ ...outcome.meta, version: 1 });
    expect(await collect(opened.requests())).toEqual(await requestsOf(outcome));
    const wrong = [
      { chunks: 0 },
      { recipients: 1 },
      { batches: 2 },
      { digest: 'd' },
      { channel: 'sns' },
      { version: 3 },
    ];
    for (const change of [...wrong, { version: 2 }]) {
      write(change);
      await expect(openPlan(folder), JSON.stringify(change)).rejects.toMatchObject({ name: 'PlanDamaged' });
    }
  });

  it('that is held has a version that earlier releases refuse, others the one that they read', async () => {
    for (const [hold, version] of [
      [true, 3],
      [false, 2],
    ] as const) {
      const { folder } = planned(await plan('phone\n99000001\n', { hold }));
      const written = readFileSync(join(folder, 'plan.json'), 'utf8');
      expect(written.startsWith(`urtuu-plan ${version} `)).toBe(true);
      expect((await openPlan(folder)).meta.held !== undefined).toBe(hold);
    }
  });

  it('of a later version is refused', async () => {
    const { folder } = planned(await plan('phone\n99000001\n'));
    const path = join(folder, 'plan.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace('urtuu-plan 2', 'urtuu-plan 4'));
    await expect(openPlan(folder)).rejects.toThrow('another version of urtuu');
  });

  it('is written into a new folder only', async () => {
    const folder = join(temporaryFolder(), 'plan');
    await plan('phone\n99000001\n', { folder });
    expect(await refusal('phone\n99000002\n', { folder })).toMatchObject({ code: 'EEXIST' });
  });
});
