import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomeOf, root } from '../support/binary.js';

const examples = readdirSync(join(root, 'examples'));

// The examples for vitest run as part of this suite.
describe('the examples', () => {
  it.each(examples.filter((name) => name.endsWith('.node.test.js')))('%s passes', async (name) => {
    const child = spawn(process.execPath, ['--test', join('examples', name)], {
      cwd: root,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { code, stdout, stderr } = await outcomeOf(child);
    expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
    expect(stdout).toMatch(/pass [1-9]/);
  });
});
