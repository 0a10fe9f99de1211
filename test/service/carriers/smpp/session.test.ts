import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Command, commandIds } from '../../../../src/service/carriers/smpp/codec/commands.js';
import { decodePdu, encodePdu, noOptions } from '../../../../src/service/carriers/smpp/codec/pdu.js';
import { Session } from '../../../../src/service/carriers/smpp/connection/session.js';
import { ManualClock } from '../../../../src/service/clock.js';

/** A connection that keeps what is written. */
function connection() {
  const written: Buffer[] = [];
  const socket = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      written.push(bytes);
      done();
    },
  });
  return { socket, written };
}

/** A session whose peer answers every enquire_link at once while it is alive, and nothing else by itself. */
function withPeer() {
  const clock = new ManualClock();
  const peer = { isAlive: true, probes: [] as number[], closed: '' };
  const respond = (command: Command, sequence: number) =>
    socket.emit('data', encodePdu({ command, status: 0, sequence, fields: {}, options: noOptions }));
  const socket = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      const { command, sequence } = decodePdu(bytes);
      if (command === 'enquire_link') {
        peer.probes.push(clock.monotonic());
        if (peer.isAlive) queueMicrotask(() => respond('enquire_link_resp', sequence));
      }
      done();
    },
  });
  const onClosed = (reason: string) => {
    peer.closed = `${reason} at ${clock.monotonic()}`;
  };
  const session = new Session(socket, clock, 30_000, {
    onRequest() {},
    onMalformed() {},
    onProgress() {},
    onClosed,
  });
  const overdue: number[] = [];
  const submit = () =>
    void session.request('submit_sm', {}, noOptions, () => overdue.push(clock.monotonic())).catch(() => {});
  /** Time passes a little at a time, and the peer answers. */
  const passUntil = async (end: number) => {
    while (clock.monotonic() < end) {
      clock.advance(Math.min(100, end - clock.monotonic()));
      await new Promise(setImmediate);
    }
  };
  onTestFinished(() => session.close('the test ends'));
  return { clock, session, peer, overdue, submit, respond, passUntil };
}

/** Bytes that look like PDUs, more or less. */
const noise = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc
    .record({
      id: fc.oneof(fc.constantFrom(...Object.values(commandIds)), fc.nat(0xffff)),
      status: fc.constantFrom(0, 0x58, 0xffffffff),
      sequence: fc.nat(5),
      body: fc.uint8Array({ maxLength: 60 }),
    })
    .map(({ id, status, sequence, body }) => {
      const pdu = Buffer.alloc(16 + body.length);
      [pdu.length, id, status, sequence].forEach((value, index) => {
        pdu.writeUInt32BE(value, index * 4);
      });
      Buffer.from(body).copy(pdu, 16);
      return pdu;
    }),
);

it('is never deaf: whatever comes in, it ends or still answers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(noise, { maxLength: 12 }), async (pieces) => {
      const { socket, written } = connection();
      const clock = new ManualClock();
      let ended = 0;
      const session: Session = new Session(socket, clock, 30_000, {
        onRequest: (pdu) => session.respond(pdu, 0),
        onMalformed() {},
        onProgress() {},
        onClosed() {
          ended += 1;
        },
      });
      const requests = [1, 2, 3].map(() => session.request('submit_sm', {}).catch(() => null));
      for (const piece of pieces) socket.emit('data', piece);
      const probe = { command: 'enquire_link', status: 0, sequence: 4_242, fields: {} } as const;
      // A length that noise has begun with may ask for more bytes than came: they end with the silence.
      socket.emit('data', encodePdu({ ...probe, options: noOptions }));
      await new Promise(setImmediate);
      const answers = Buffer.concat(written);
      const isAnswered = answers.includes(Buffer.from('00001092', 'hex'));
      if (!isAnswered && !session.isClosed) {
        clock.advance(10_000);
        clock.advance(10_000);
        await new Promise(setImmediate);
      }
      expect(isAnswered || session.isClosed).toBe(true);
      session.close('the test ends');
      await Promise.all(requests);
      expect(ended).toBe(1);
    }),
    { numRuns: 2_000 },
  );
});

it('ends with a peer that reads nothing', () => {
  const socket = new Duplex({ read() {}, write() {} });
  let reason = '';
  const session = new Session(socket, new ManualClock(), 30_000, {
    onRequest() {},
    onMalformed() {},
    onProgress() {},
    onClosed(given) {
      reason = given;
    },
  });
  const enquire = {
    command: 'enquire_link',
    status: 0,
    sequence: 1,
    fields: {},
    options: noOptions,
  } as const;
  const flood = Buffer.concat(Array.from({ length: 1_000 }, () => encodePdu(enquire)));
  for (let count = 0; count < 100; count += 1) socket.emit('data', flood);
  expect([session.isClosed, reason]).toEqual([true, 'its operator reads nothing']);
});

it('numbers its requests from 1, each once', async () => {
  const { socket, written } = connection();
  const session = new Session(socket, new ManualClock(), 30_000, {
    onRequest() {},
    onMalformed() {},
    onProgress() {},
    onClosed() {},
  });
  const requests = [1, 2, 3].map(() => session.request('enquire_link', {}).catch(() => null));
  await new Promise(setImmediate);
  expect(written.map((pdu) => decodePdu(pdu).sequence)).toEqual([1, 2, 3]);
  session.close('the test ends');
  await Promise.all(requests);
});

describe('a request without a response', () => {
  it('does not stop the session while enquire_link is answered, however soon after another it is overdue', async () => {
    const { session, peer, overdue, submit, passUntil } = withPeer();
    submit();
    await passUntil(400);
    submit();
    for (let end = 500; end <= 12_000; end += 100) {
      await passUntil(end);
      expect([end, session.isUsable]).toEqual([end, true]);
    }
    expect([overdue, peer.probes]).toEqual([
      [10_000, 10_400],
      [10_000, 10_400],
    ]);
  });

  it('stops it until the probe under way is answered, and no other probe is sent', async () => {
    const { session, peer, submit, respond, passUntil } = withPeer();
    peer.isAlive = false;
    submit();
    await passUntil(400);
    submit();
    await passUntil(10_500);
    expect([session.isUsable, peer.probes]).toEqual([false, [10_000]]);
    respond('enquire_link_resp', 3);
    expect(session.isUsable).toBe(true);
  });

  it('stops it again where the peer was heard since the probe, and falls silent', async () => {
    const { session, peer, submit, respond, passUntil } = withPeer();
    peer.isAlive = false;
    submit();
    await passUntil(5_000);
    submit();
    await passUntil(12_000);
    respond('submit_sm_resp', 1);
    expect(session.isUsable).toBe(true);
    await passUntil(24_900);
    expect([session.isUsable, session.isClosed, peer.probes]).toEqual([false, false, [10_000, 15_000]]);
    await passUntil(26_000);
    expect(peer.closed).toBe('its operator does not answer at 25000');
  });

  it('delays neither the next response timers nor the end of a dead connection', async () => {
    const { peer, overdue, submit, passUntil } = withPeer();
    submit();
    await passUntil(25_000);
    peer.isAlive = false;
    submit();
    await passUntil(27_000);
    submit();
    await passUntil(50_000);
    expect(overdue).toEqual([10_000, 35_000, 37_000]);
    expect(peer.closed).toBe('its operator does not answer at 45000');
  });

  it('is answered late for 5 min, and then never', async () => {
    const { session, respond, passUntil } = withPeer();
    const first = session.request('submit_sm', {});
    const second = session.request('submit_sm', {});
    const ended = expect(second).rejects.toThrow('it was never answered');
    await passUntil(309_000);
    respond('submit_sm_resp', 1);
    expect(await first).toMatchObject({ command: 'submit_sm_resp' });
    await passUntil(310_000);
    await ended;
  });
});
