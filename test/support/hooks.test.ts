import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const tests = resolve(import.meta.dirname, '..');

it('helpers of tests register no hooks: a module loads once a worker, and its hooks with it', () => {
  const helpers = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(
    // Those of test/systems are not run by vitest.
    (name) => /\.[jt]s$/.test(name) && !name.endsWith('.test.ts') && !name.startsWith('systems'),
  );
  expect(helpers.length).toBeGreaterThan(50);
  const hook = /^(?:before|after)(?:Each|All)\(/m;
  expect(helpers.filter((name) => hook.test(readFileSync(join(tests, name), 'utf8')))).toEqual([]);
});
