import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutcomeUnknown, type SubmitResult } from '../../../../src/service/carriers/carrier.js';
import { commandIds, statuses, tags } from '../../../../src/service/carriers/smpp/codec/commands.js';
import type { SmppRoute } from '../../../../src/service/carriers/smpp/route-settings.js';
import { routeTo, SmppDesk, submissionOf, until } from '../../../support/smpp.js';
import { type Reaction, Smsc } from '../../../support/smsc.js';
import { carrierConformance } from '../conformance/carrier.js';

let smsc: Smsc;
let desk: SmppDesk;
let port: number;

beforeEach(async () => {
  smsc = new Smsc();
  port = await smsc.listen();
});
afterEach(async () => {
  await desk.stop();
  await smsc.close();
});

async function open(changes: Partial<SmppRoute> = {}): Promise<void> {
  desk = new SmppDesk([routeTo(port, changes)]);
  await desk.start();
}

/** Reactions to the first submissions; the rest is taken. */
function react(...reactions: Reaction[]): void {
  smsc.options.react = (_, index) => reactions[index] ?? 'take';
}

const outcomeOf = (submitting: Promise<SubmitResult>): Promise<SubmitResult | OutcomeUnknown> =>
  submitting.catch((error) => {
    if (error instanceof OutcomeUnknown) return error;
    throw error;
  });

/** The outcome, for which time passes. */
async function passed(submitting: Promise<SubmitResult>): Promise<SubmitResult | OutcomeUnknown> {
  let outcome: SubmitResult | OutcomeUnknown | null = null;
  void outcomeOf(submitting).then((result) => {
    outcome = result;
  });
  await desk.pass(() => outcome !== null);
  return outcome as unknown as SubmitResult | OutcomeUnknown;
}

/** A PDU without a body. */
const head = (command: keyof typeof commandIds, sequence: number, status: number = statuses.ok): Buffer =>
  Buffer.from(Uint32Array.of(16, commandIds[command], status, sequence).buffer).swap32();

const long = 'a'.repeat(400);

describe('a submission', () => {
  it('is taken as the route says', async () => {
    await open();
    expect(await desk.submit('0000-abcd', { text: 'Сайн уу' })).toEqual({
      kind: 'accepted',
      carrierIds: ['1001'],
    });
    expect(smsc.taken).toMatchObject([{ to: '99112233', text: 'Сайн уу', reference: 'abcd' }]);
    expect(smsc.taken[0]?.pdu.fields).toMatchObject({
      source_addr: '139911',
      source_addr_ton: 3,
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '97699112233',
      registered_delivery: 1,
      data_coding: 8,
      validity_period: '000001000000000R',
    });
  });

  it.each([
    [{ validityMs: 90_061_000 }, undefined, '000001010101000R'],
    [{}, 600_000, '000000001000000R'],
    [{ validityFormat: 'absolute' }, undefined, '261123000000000+'],
  ] as const)('with %j, and %s ms to live, is valid until %s', async (changes, lifeMs, expected) => {
    await open(changes);
    await desk.submit('m', lifeMs === undefined ? {} : { lifeMs });
    expect(smsc.taken[0]?.pdu.fields.validity_period).toBe(expected);
  });

  it('has the service type of its route, and without TLVs no reference for receipts', async () => {
    await open({ serviceType: 'CMT', hasTlvs: false });
    await desk.submit('0000-abcd', { text: long });
    expect(smsc.taken.map(({ pdu: { fields, options } }) => [fields.service_type, options.size])).toEqual([
      ['CMT', 0],
      ['CMT', 0],
      ['CMT', 0],
    ]);
  });

  it('over a national route has the number as it is', async () => {
    await open({ numberForm: 'national' });
    await desk.submit('m');
    expect(smsc.taken[0]?.pdu.fields.destination_addr).toBe('99112233');
  });

  it.each([
    [statuses.throttled, { kind: 'later', scope: 'rate', code: '0x58' }],
    [statuses.queueFull, { kind: 'later', scope: 'rate', code: '0x14' }],
    [statuses.systemError, { kind: 'later', scope: 'message', code: '0x08' }],
    [statuses.notBound, { kind: 'later', scope: 'account', code: '0x04' }],
    [statuses.invalidPassword, { kind: 'later', scope: 'account', code: '0x0e' }],
    [statuses.invalidSystemId, { kind: 'later', scope: 'account', code: '0x0f' }],
    [statuses.invalidRecipient, { kind: 'refused', tryNextRoute: true }],
    [statuses.invalidRecipientType, { kind: 'refused', tryNextRoute: true }],
    [statuses.invalidRecipientPlan, { kind: 'refused', tryNextRoute: true }],
    ...[0x01, 0x02, 0x45, 0x62, 0x65, 0x66].map(
      (status) => [status, { kind: 'refused', tryNextRoute: true }] as const,
    ),
    ...[0x0a, 0x15, 0x43, 0x48, 0x49, 0xc4].map(
      (status) => [status, { kind: 'later', scope: 'account' }] as const,
    ),
    [0x64, { kind: 'later', scope: 'message' }],
    [0x4ff, { kind: 'later', scope: 'message' }],
    ['nack', { kind: 'later', scope: 'message' }],
  ] as const)('that is answered with %s is %j', async (reaction, expected) => {
    await open();
    react(reaction);
    expect(await desk.submit('m')).toMatchObject(expected);
    expect(smsc.taken).toEqual([]);
  });

  it.each([
    [0x4ff, { kind: 'refused', tryNextRoute: true, code: '0x4ff' }],
    [0x58, { kind: 'refused' }],
    [0x45, { kind: 'later', scope: 'message' }],
    [0x0a, { kind: 'later', scope: 'message' }],
  ] as const)('that is answered with %s, which its route lists, is %j', async (reaction, expected) => {
    await open({ permanent: [0x4ff, 0x58], temporary: [0x45, 0x0a] });
    react(reaction);
    expect(await desk.submit('m')).toMatchObject(expected);
  });

  it('that is taken without an id is accepted without receipts', async () => {
    await open();
    react('take_without_id');
    expect(await desk.submit('m')).toEqual({ kind: 'accepted', carrierIds: [] });
  });

  it('that is answered twice is accepted once', async () => {
    await open();
    react('take_twice_answered');
    expect(await desk.submit('m')).toEqual({ kind: 'accepted', carrierIds: ['1001'] });
    expect(await desk.submit('n')).toEqual({ kind: 'accepted', carrierIds: ['1002'] });
  });

  it.each(['cut_before', 'cut_after'] as const)('whose connection ends (%s) is unknown', async (reaction) => {
    await open();
    react(reaction);
    expect(await outcomeOf(desk.submit('m'))).toBeInstanceOf(OutcomeUnknown);
  });

  it('without an answer is unknown after 10 s, and late when it is answered after all', async () => {
    await open();
    react('held');
    const unknown = await passed(desk.submit('m'));
    expect(unknown).toBeInstanceOf(OutcomeUnknown);
    expect(desk.clock.monotonic()).toBe(10_000);
    smsc.release();
    expect(await (unknown as OutcomeUnknown).late).toEqual({ kind: 'accepted', carrierIds: ['1001'] });
  });

  it('without an answer is never late once its connection has ended', async () => {
    await open();
    react('held');
    const { late } = (await passed(desk.submit('m'))) as OutcomeUnknown;
    smsc.cut();
    await expect(late).rejects.toThrow(OutcomeUnknown);
  });

  it('while there is no connection is put off', async () => {
    await smsc.close();
    await open();
    expect(desk.carrier.capacity('Mobicom')).toBe(0);
    expect(await desk.submit('m')).toMatchObject({ kind: 'later', scope: 'lane' });
    expect(await desk.carrier.reserve?.('Mobicom', true)).toBeNull();
  });
});

describe('segments', () => {
  it.each(['udh', 'sar'] as const)(
    'by %s go out one after the other, under one reference',
    async (segments) => {
      await open({ segments });
      smsc.options.onTaken = (_, answer) => smsc.held.push(answer);
      const submitting = desk.submit('0000-abcd', { text: long });
      for (const count of [1, 2, 3]) {
        await until(() => smsc.taken.length === count && smsc.held.length === 1);
        smsc.release();
      }
      expect(await submitting).toEqual({ kind: 'accepted', carrierIds: ['1001', '1002', '1003'] });
      expect(smsc.taken.map(({ number, total, reference }) => [number, total, reference])).toEqual([
        [1, 3, 'abcd'],
        [2, 3, 'abcd'],
        [3, 3, 'abcd'],
      ]);
      expect(smsc.taken.map(({ text }) => text).join('')).toBe(long);
    },
  );

  it('the first of which is refused are refused together', async () => {
    await open();
    react(statuses.invalidRecipient);
    expect(await desk.submit('m', { text: long })).toMatchObject({ kind: 'refused' });
    expect(smsc.taken).toEqual([]);
  });

  it('one of which is put off are tried again, that one only', async () => {
    await open();
    react('take', statuses.throttled, statuses.invalidRecipient);
    expect(await passed(desk.submit('m', { text: long }))).toMatchObject({
      kind: 'accepted',
      carrierIds: { length: 3 },
    });
    expect(smsc.taken.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  it('one of which stays refused leave the message undelivered', async () => {
    await open();
    smsc.options.react = ({ number }) => (number === 3 ? statuses.queueFull : 'take');
    expect(await passed(desk.submit('m', { text: long }))).toEqual({
      kind: 'accepted',
      carrierIds: ['1001', '1002'],
      delivery: 'undelivered',
    });
    expect(desk.clock.monotonic()).toBeLessThan(desk.carrier.submitMs);
  });

  it('one of which is lost leave the message unknown', async () => {
    await open();
    react('take', 'cut_after');
    expect(await passed(desk.submit('m', { text: long }))).toBeInstanceOf(OutcomeUnknown);
  });

  it('go on over a new connection where none was under way', async () => {
    await open();
    react('take', statuses.throttled);
    const submitting = passed(desk.submit('m', { text: long }));
    await until(() => smsc.heard.filter(({ command }) => command === 'submit_sm').length === 2);
    smsc.cut();
    expect(await submitting).toEqual({ kind: 'accepted', carrierIds: ['1001', '1002', '1003'] });
    expect(smsc.heard.filter(({ command }) => command === 'bind_transceiver')).toHaveLength(2);
  });

  it('in a room go on before those of a message that waits for one, as its connection is gone', async () => {
    await open({ binds: 2, window: 1 });
    let lost: Socket | undefined;
    let isRefused = false;
    smsc.options.react = ({ to, number }) => {
      if (to !== '99000001' || number !== 2 || isRefused) return 'take';
      isRefused = true;
      return statuses.throttled;
    };
    smsc.options.onTaken = ({ to, number }, answer, socket) => {
      if (to === '99000001') lost ??= socket;
      if (to === '99000002' && number === 1) smsc.held.push(answer);
      else answer();
    };
    const submitting = ['99000001', '99000002'].map((to) => desk.submit(to, { to, text: long }));
    await until(() => isRefused && smsc.held.length === 1);
    smsc.options.bindStatus = () => statuses.invalidPassword;
    lost?.destroy();
    const pausedUntil = desk.clock.monotonic() + 2_000;
    await desk.pass(() => desk.clock.monotonic() >= pausedUntil);
    smsc.release();
    const whole = { kind: 'accepted', carrierIds: { length: 3 } };
    expect(await Promise.all(submitting.map(passed))).toMatchObject([whole, whole]);
    expect(desk.clock.monotonic()).toBeLessThan(10_000);
  });

  it('end undelivered where the connection does not come back', async () => {
    await open();
    react('take', statuses.throttled);
    const submitting = passed(desk.submit('m', { text: long }));
    await until(() => smsc.heard.filter(({ command }) => command === 'submit_sm').length === 2);
    await smsc.close();
    expect(await submitting).toEqual({ kind: 'accepted', carrierIds: ['1001'], delivery: 'undelivered' });
  });

  it('lack an id: no receipt says that the message was delivered', async () => {
    await open();
    react('take', 'take_without_id');
    expect(await desk.submit('m', { text: long })).toEqual({ kind: 'accepted', carrierIds: [] });
  });
});

describe('the window', () => {
  it('holds no more than it has room for, single messages first', async () => {
    await open({ window: 2 });
    smsc.options.onTaken = (_, answer) => smsc.held.push(answer);
    const order: string[] = [];
    const send = async (reference: string, isSingle: boolean) => {
      const reservation = await desk.carrier.reserve?.('Mobicom', isSingle);
      order.push(reference);
      await reservation?.submit(submissionOf(reference), new AbortController().signal);
      reservation?.release();
    };
    const all = ['b1', 'b2', 'b3', 'b4'].map((reference) => send(reference, false));
    await until(() => smsc.held.length === 2);
    all.push(send('single', true));
    while (order.length < 5) {
      smsc.release();
      await until(() => smsc.held.length > 0);
      expect(smsc.held.length).toBeLessThanOrEqual(2);
    }
    await until(() => smsc.taken.length === 5);
    smsc.release();
    await Promise.all(all);
    expect(order).toEqual(['b1', 'b2', 'single', 'b3', 'b4']);
  });

  it('is full until an outcome is written', async () => {
    await open({ window: 1 });
    const first = await desk.carrier.reserve?.('Mobicom', true);
    let isSecond = false;
    const second = desk.carrier.reserve?.('Mobicom', true).then((reservation) => {
      isSecond = true;
      return reservation;
    });
    await first?.submit(submissionOf('m'), new AbortController().signal);
    smsc.request('enquire_link');
    await until(() => smsc.heard.at(-1)?.command === 'enquire_link_resp');
    expect(isSecond).toBe(false);
    first?.release();
    (await second)?.release();
  });

  it('gives back the room of messages without an answer after 10 s, each time', async () => {
    await open({ window: 2 });
    react('held', 'held', 'held');
    const first = await passed(desk.submit('a'));
    await desk.pass(() => desk.clock.monotonic() === 25_000);
    const others = await Promise.all(['b', 'c'].map((reference) => passed(desk.submit(reference))));
    expect(desk.clock.monotonic()).toBe(35_000);
    await until(() => desk.carrier.capacity('Mobicom') > 0);
    expect(await desk.submit('d')).toMatchObject({ kind: 'accepted' });
    smsc.release();
    const late = [first, ...others].map((outcome) => (outcome as OutcomeUnknown).late);
    expect(await Promise.all(late)).toMatchObject(Array(3).fill({ kind: 'accepted' }));
  });

  it('of a silent centre lets nothing more into doubt', async () => {
    await open({ window: 3 });
    smsc.options.onTaken = (_, answer) => smsc.held.push(answer);
    const outcomes = ['a', 'b', 'c', 'd', 'e'].map((reference) => outcomeOf(desk.submit(reference)));
    await until(() => smsc.held.length === 3);
    for (const socket of smsc.sockets) socket.pause();
    const results: (SubmitResult | OutcomeUnknown)[] = [];
    for (const outcome of outcomes) void outcome.then((result) => results.push(result));
    await desk.pass(() => results.length === 5);
    expect(results.filter((result) => result instanceof OutcomeUnknown)).toHaveLength(3);
    expect(results.filter((result) => 'kind' in result)).toMatchObject([
      { kind: 'later' },
      { kind: 'later' },
    ]);
  });
});

describe('the rate', () => {
  it.each([5, 100])('is %i segments a second, and never more', async (perSecond) => {
    await open({ perSecond, window: 50 });
    const times: number[] = [];
    smsc.options.onTaken = (_, answer) => {
      times.push(desk.clock.monotonic());
      answer();
    };
    const count = perSecond * 3;
    const sending = Array.from({ length: count }, (_, index) => desk.submit(`m${index}`));
    await desk.pass(() => times.length === count, 10);
    await Promise.all(sending);
    const inOneSecond = times.map(
      (time) => times.filter((other) => other >= time && other < time + 1_000).length,
    );
    expect(Math.max(...inOneSecond)).toBeLessThanOrEqual(perSecond);
    const took = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(took).toBeGreaterThanOrEqual(2_700);
    expect(took).toBeLessThanOrEqual(3_200);
  });
});

describe('the connection', () => {
  const binds = () => smsc.heard.filter(({ command }) => command.startsWith('bind_')).length;
  const isUp = () => desk.carrier.capacity('Mobicom') > 0;

  it('binds with what the route says', async () => {
    await open({ systemType: 'VMA' });
    expect(smsc.heard[0]).toMatchObject({
      command: 'bind_transceiver',
      fields: { system_id: 'urtuu', password: 'secret', system_type: 'VMA', interface_version: 0x34 },
    });
  });

  it('as transmitter and receiver is two', async () => {
    await open({ bind: 'transmitter+receiver', binds: 2, addressRange: '^97699' });
    const modes = smsc.heard.map(({ command }) => command).sort();
    expect(modes).toEqual(['bind_receiver', 'bind_receiver', 'bind_transmitter', 'bind_transmitter']);
    const ranges = smsc.heard.map(({ command, fields }) => `${command} ${fields.address_range}`);
    expect(new Set(ranges)).toEqual(new Set(['bind_receiver ^97699', 'bind_transmitter ']));
    expect(await desk.submit('m')).toMatchObject({ kind: 'accepted' });
  });

  it('that ends is made again after a while, with a fresh session', async () => {
    await open();
    smsc.cut();
    await until(() => !isUp());
    const waited = await desk.pass(isUp);
    expect(waited).toBeGreaterThanOrEqual(1_000);
    expect(smsc.heard.map(({ sequence }) => sequence)).toEqual([1, 1]);
    expect(await desk.submit('m')).toMatchObject({ kind: 'accepted' });
  });

  it('that is refused is tried again, later each time, and reported once', async () => {
    smsc.options.bindStatus = () => statuses.invalidPassword;
    await open();
    await desk.pass(() => binds() === 8);
    expect(desk.clock.monotonic()).toBeGreaterThan(8 * 1_000);
    expect(desk.reported).toEqual([expect.stringContaining('refused the password')]);
    smsc.options = {};
    expect(await desk.pass(isUp)).toBeLessThanOrEqual(60_000);
  });

  it.each([
    ['with its answer', 1],
    ['at once', 10],
  ])('that is taken and ended %s is made again, later each time, and reported once', async (_, after) => {
    const endAfter = (left: number) => {
      if (left === 0) smsc.request('unbind');
      else setImmediate(() => endAfter(left - 1));
    };
    smsc.options.onHeard = ({ command }) => {
      if (command.startsWith('bind_')) endAfter(after);
    };
    await open();
    await desk.pass(() => binds() === 8);
    expect(desk.clock.monotonic()).toBeGreaterThan(8 * 1_500);
    await desk.pass(() => binds() === 20, 1_000);
    expect(desk.clock.monotonic()).toBeGreaterThan(200_000);
    expect(desk.reported).toEqual([expect.stringContaining('its operator has ended it')]);
    smsc.options = {};
    expect(await desk.pass(isUp)).toBeLessThanOrEqual(60_000);
    // One that carried something was good: it is made again soon, and its end is reported.
    for (const end of [2, 3]) {
      await desk.submit('m');
      smsc.cut();
      await until(() => !isUp());
      expect(await desk.pass(isUp)).toBeLessThanOrEqual(4_000);
      expect(desk.reported).toHaveLength(end);
    }
  });

  it('is down after 30 s without one, and not before', async () => {
    await open();
    await smsc.close();
    await until(() => !isUp());
    expect(desk.carrier.isDown?.('Mobicom')).toBe(false);
    desk.clock.advance(30_000);
    expect(desk.carrier.isDown?.('Mobicom')).toBe(true);
  });

  it('is asked for a sign of life as often as its route says', async () => {
    await open({ enquireMs: 5_000 });
    await desk.pass(() => smsc.heard.some(({ command }) => command === 'enquire_link'));
    expect(desk.clock.monotonic()).toBe(5_000);
  });

  it('is asked for a sign of life after 30 s of silence, and is dead 10 s later without one', async () => {
    await open();
    await desk.pass(() => smsc.heard.some(({ command }) => command === 'enquire_link'));
    expect(desk.clock.monotonic()).toBe(30_000);
    await desk.pass(() => desk.clock.monotonic() >= 50_000);
    expect([isUp(), binds()]).toEqual([true, 1]);
    for (const socket of smsc.sockets) socket.pause();
    await desk.pass(() => !isUp());
    expect(desk.clock.monotonic()).toBeLessThanOrEqual(80_000);
    await desk.pass(isUp);
    expect(binds()).toBe(2);
  });

  it('answers enquire_link and unbind, and refuses what it does not know', async () => {
    await open();
    smsc.request('enquire_link');
    smsc.request('submit_sm');
    smsc.request('unbind');
    await until(() => smsc.heard.length === 4);
    expect(smsc.heard.slice(1).map(({ command, status }) => [command, status])).toEqual([
      ['enquire_link_resp', 0],
      ['generic_nack', 3],
      ['unbind_resp', 0],
    ]);
    await desk.pass(() => binds() === 2);
  });

  it('takes nothing more once it is stopped, not even what has room', async () => {
    await open();
    react('held');
    const reservation = await desk.carrier.reserve?.('Mobicom', true);
    const stopping = desk.carrier.stop();
    const submitted = reservation?.submit(submissionOf('m'), new AbortController().signal);
    await stopping;
    expect(await submitted).toMatchObject({ kind: 'later', scope: 'lane' });
    expect(smsc.taken).toEqual([]);
  });

  it('is unbound at stop, after the answers that are due', async () => {
    await open();
    react('held');
    const submitting = desk.submit('m');
    await until(() => smsc.held.length === 1);
    const stopping = desk.carrier.stop();
    expect(await desk.carrier.reserve?.('Mobicom', true)).toBeNull();
    smsc.release();
    expect(await submitting).toMatchObject({ kind: 'accepted' });
    await stopping;
    expect(smsc.heard.at(-1)?.command).toBe('unbind');
    await until(() => smsc.sockets.size === 0);
  });

  it.each([
    ['garbage', Buffer.from('ffffffff00000000', 'hex'), 2],
    ['a length of 3', Buffer.from('00000003', 'hex'), 2],
    ['an unknown command', Buffer.from('00000010000000990000000000000001', 'hex'), 1],
    ['a malformed deliver_sm', Buffer.from('00000011000000050000000000000001ff', 'hex'), 1],
    ['a malformed data_sm', Buffer.from('00000011000001030000000000000001ff', 'hex'), 1],
    ['an answer to nothing', Buffer.from('00000010800000040000000000000309', 'hex'), 1],
    ['a bind_transceiver_resp to nothing', Buffer.from('00000010800000090000000000000001', 'hex'), 1],
  ])('survives %s', async (_, bytes, sessions) => {
    await open();
    smsc.writeRaw(bytes);
    smsc.request('enquire_link');
    await desk.pass(() => binds() === sessions && isUp());
    expect(await desk.submit('m')).toMatchObject({ kind: 'accepted' });
  });

  it.each([
    [
      'of other commands',
      (sequence: number) => [head('enquire_link_resp', sequence), head('unbind_resp', sequence)],
    ],
    ['of a bind', (sequence: number) => [head('bind_transceiver_resp', sequence)]],
    ['to an incoming message', (sequence: number) => [head('deliver_sm_resp', sequence)]],
    [
      'to unknown requests',
      () => [head('submit_sm_resp', 0), head('submit_sm_resp', 0xffffffff), head('generic_nack', 0x777)],
    ],
  ])('takes no answer %s for that of a submission', async (_, answers) => {
    await open();
    react('held');
    const submitting = desk.submit('m');
    await until(() => smsc.held.length === 1);
    const { sequence = 0 } = smsc.heard.at(-1) ?? {};
    for (const answer of answers(sequence)) smsc.writeRaw(answer);
    smsc.request('enquire_link');
    await until(() => smsc.heard.at(-1)?.command === 'enquire_link_resp');
    smsc.release();
    expect(await submitting).toEqual({ kind: 'accepted', carrierIds: ['1001'] });
    expect(binds()).toBe(1);
  });

  it('keeps the first of two answers that contradict each other', async () => {
    await open();
    react('held');
    const submitting = desk.submit('m');
    await until(() => smsc.held.length === 1);
    const { sequence = 0 } = smsc.heard.at(-1) ?? {};
    smsc.release();
    smsc.writeRaw(head('submit_sm_resp', sequence, statuses.throttled));
    expect(await submitting).toEqual({ kind: 'accepted', carrierIds: ['1001'] });
    expect(await desk.submit('n')).toEqual({ kind: 'accepted', carrierIds: ['1002'] });
  });

  it('answers, and stores a receipt, while it unbinds', async () => {
    await open();
    await desk.submit('m');
    smsc.options.onHeard = ({ command }) => {
      if (command !== 'unbind') return;
      smsc.options.onHeard = () => {};
      smsc.request('enquire_link');
      smsc.sendReceipt(smsc.taken[0] as never);
    };
    await desk.stop();
    await until(() => smsc.heard.at(-1)?.command === 'enquire_link_resp');
    // What is not acknowledged comes again.
    expect(desk.receipts).toMatchObject([{ carrierId: '1001', state: 'delivered' }]);
  });

  it('answers while its operator unbinds, and takes the answers that are due', async () => {
    await open();
    react('held');
    const submitting = desk.submit('m');
    await until(() => smsc.held.length === 1);
    smsc.request('unbind');
    smsc.request('enquire_link');
    await until(() => smsc.heard.at(-1)?.command === 'enquire_link_resp' && !isUp());
    smsc.release();
    expect(await submitting).toEqual({ kind: 'accepted', carrierIds: ['1001'] });
  });
});

describe('a receipt', () => {
  it('is acknowledged once it is stored', async () => {
    await open();
    let stored = () => {};
    desk.store = () => new Promise((resolve) => (stored = resolve));
    await desk.submit('m');
    smsc.sendReceipt(smsc.taken[0] as never, 'UNDELIV', '1001', 'abcd');
    smsc.request('enquire_link');
    await until(() => smsc.heard.at(-1)?.command === 'enquire_link_resp');
    expect(smsc.acknowledged).toEqual([]);
    stored();
    await until(() => smsc.acknowledged.length === 1);
    expect(smsc.acknowledged).toEqual([0]);
    expect(desk.receipts).toEqual([
      {
        route: 'Mobicom',
        carrierId: '1001',
        otherId: null,
        to: '99112233',
        state: 'undelivered',
        code: null,
        reference: 'abcd',
        submittedAt: null,
      },
    ]);
  });

  it('by data_sm is stored, and answered in kind', async () => {
    await open();
    const options = new Map([
      [tags.receiptedMessageId, Buffer.from('1001\0')],
      [tags.messageState, Buffer.from([2])],
    ]);
    smsc.request('data_sm', { source_addr: '97699112233', esm_class: 4 }, options);
    smsc.request('data_sm', stop, new Map([[tags.messagePayload, Buffer.from('STOP')]]));
    await until(() => smsc.acknowledged.length === 2);
    expect(smsc.heard.slice(-2).map(({ command, status }) => [command, status])).toEqual([
      ['data_sm_resp', 0],
      ['data_sm_resp', 0],
    ]);
    expect(desk.receipts).toMatchObject([{ carrierId: '1001', to: '99112233', state: 'delivered' }]);
    expect(desk.incoming).toMatchObject([{ from: '99112233', to: '139911', text: 'STOP' }]);
  });

  it('that says nothing final is acknowledged and not stored', async () => {
    await open();
    await desk.submit('m');
    smsc.sendReceipt(smsc.taken[0] as never, 'ENROUTE');
    await until(() => smsc.acknowledged.length === 1);
    expect([smsc.acknowledged, desk.receipts]).toEqual([[0], []]);
  });
});

const stop = { source_addr: '97699112233', destination_addr: '139911', short_message: Buffer.from('STOP') };

it.each([
  ['a receipt', () => smsc.sendReceipt(smsc.taken[0] as never)],
  ['an incoming message', () => smsc.request('deliver_sm', stop)],
])('%s is put off while it cannot be stored', async (_, send) => {
  await open();
  desk.store = async () => {
    throw new Error('disk I/O error');
  };
  await desk.submit('m');
  send();
  await until(() => smsc.acknowledged.length === 1);
  expect(smsc.acknowledged).toEqual([statuses.tryAgain]);
  expect(desk.reported).toEqual(['disk I/O error']);
});

describe('an incoming message', () => {
  it('is acknowledged once it is kept', async () => {
    await open();
    let kept = () => {};
    desk.store = () => new Promise((resolve) => (kept = resolve));
    smsc.request('deliver_sm', stop);
    smsc.request('enquire_link');
    await until(() => smsc.heard.at(-1)?.command === 'enquire_link_resp');
    expect(smsc.acknowledged).toEqual([]);
    kept();
    await until(() => smsc.acknowledged.length === 1);
    expect(smsc.acknowledged).toEqual([statuses.ok]);
    expect(desk.incoming).toEqual([
      { route: 'Mobicom', from: '99112233', to: '139911', text: 'STOP', part: null },
    ]);
    expect(desk.receipts).toEqual([]);
  });
});

carrierConformance({
  name: 'SMPP',
  canInquire: false,
  async open(handles) {
    const center = new Smsc();
    const at = await center.listen();
    desk = new SmppDesk([]);
    const desks = Array.from({ length: handles }, () => new SmppDesk([routeTo(at)]));
    return {
      // The centre knows no reference: the text is one.
      carriers: desks.map(({ carrier }) => ({
        ...carrier,
        submit: (submission, signal) => carrier.submit({ ...submission, text: submission.reference }, signal),
      })),
      submission: { channel: 'sms', route: 'Mobicom', to: '99112233', text: '' },
      taken: async () => center.taken.map(({ text }) => text),
      close: () => center.close(),
    };
  },
});
