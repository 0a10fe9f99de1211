import { describe, expect, it } from 'vitest';
import { isNode, newConnection } from '../../../src/client/transport/runtime.js';

const versions = (more: object) => ({ process: { versions: { node: '24.0.0', ...more } } });

describe('a new connection', () => {
  it('is the rule of Node.js, which repeats nothing', () => {
    expect(isNode()).toBe(true);
    expect(newConnection()).toEqual({});
    expect(newConnection(versions({}))).toEqual({});
  });

  it('is asked for in the words of Bun and Deno', () => {
    expect(newConnection(versions({ bun: '1.4.0' }))).toEqual({ keepalive: false });
    const asked: unknown[] = [];
    const Deno = { createHttpClient: (options: unknown) => asked.push(options) && 'client' };
    expect(newConnection({ ...versions({ deno: '2.9.0' }), Deno })).toEqual({ client: 'client' });
    expect(asked).toEqual([{ poolMaxIdlePerHost: 0 }]);
    expect(newConnection({ ...versions({ deno: '1.0.0' }), Deno: {} })).toEqual({});
  });
});
