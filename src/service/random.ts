import { createHash, randomBytes } from 'node:crypto';

/** The source of ids, keys and codes. */
export interface Random {
  bytes(count: number): Uint8Array;
}

/** The system's cryptographic generator. */
export const systemRandom: Random = { bytes: (count) => randomBytes(count) };

/** The same bytes for the same seed, for repeatable runs; never for secrets. */
export function seededRandom(seed: string): Random {
  let counter = 0;
  let pool = Buffer.alloc(0);
  return {
    bytes(count) {
      while (pool.length < count) {
        const block = createHash('sha256').update(`${seed}:${counter}`).digest();
        counter += 1;
        pool = Buffer.concat([pool, block]);
      }
      const taken = pool.subarray(0, count);
      pool = pool.subarray(count);
      return taken;
    },
  };
}

/** A whole number from 0 to `limit` - 1, uniformly distributed. */
export function randomInteger(random: Random, limit: number): number {
  const range = 2 ** 32;
  const fair = range - (range % limit);
  for (;;) {
    const value = Buffer.from(random.bytes(4)).readUInt32BE();
    if (value < fair) return value % limit;
  }
}

/** Makes UUIDs of version 7. They sort by creation time, so an index grows at its end. */
export function idMaker(now: () => number, random: Random): () => string {
  let last = 0;
  let start = '00000000-0000';
  let counter = 0;
  let pool = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === pool.length) [pool, used] = [Buffer.from(random.bytes(1_024)), 0];
    const time = now();
    counter = time > last ? 0 : counter + 1;
    const stamp = Math.max(counter === 0x1000 ? last + 1 : last, time);
    if (counter === 0x1000) counter = 0;
    if (stamp !== last) {
      last = stamp;
      const digits = last.toString(16).padStart(12, '0');
      start = `${digits.slice(0, 8)}-${digits.slice(8)}`;
    }
    pool[used] = ((pool[used] ?? 0) & 0x3f) | 0x80;
    const end = pool.toString('hex', used, used + 8);
    used += 8;
    return `${start}-${(0x7000 | counter).toString(16)}-${end.slice(0, 4)}-${end.slice(4)}`;
  };
}
