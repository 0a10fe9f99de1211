import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Urtuu } from '../../src/client/index.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { apiKey } from '../support/client.js';
import { fileFolder } from '../support/folders.js';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/client.md'), 'utf8');

interface Block {
  heading: string;
  code: string;
  /** What it prints; null where the guide does not show it. */
  output: string | null;
}

/** The JavaScript blocks of the guide, each with the `text` block that follows it. */
const blocks: Block[] = [...guide.matchAll(/^```js\n([\s\S]*?)^```$(?:\n\n```text\n([\s\S]*?)^```$)?/gm)].map(
  ({ 1: code = '', 2: output = null, index }) => ({
    heading: [...guide.slice(0, index).matchAll(/^## (.*)$/gm)].at(-1)?.[1] ?? '',
    code,
    output,
  }),
);

const folder = fileFolder();
mkdirSync(join(folder, 'node_modules'));
symlinkSync(root, join(folder, 'node_modules/urtuu'), 'junction');
cpSync(join(import.meta.dirname, 'service.mjs'), join(folder, 'service.mjs'));

/** A block as a program: with the lines that the guide says its examples begin with, unless it has its own. */
function programOf(code: string): string {
  const imports: string[] = code.match(/^import .*$/gm) ?? [];
  const rest = code.replace(/^import .*\n/gm, '');
  if (!code.includes("from 'urtuu'")) imports.unshift("import { Urtuu, UrtuuError } from 'urtuu';");
  if (!/^const urtuu =/m.test(code)) imports.push('const urtuu = new Urtuu();');
  return [...imports, rest].join('\n');
}

async function outputOf(code: string, at: number): Promise<string> {
  const file = join(folder, `block-${at}.mjs`);
  writeFileSync(file, programOf(code));
  const { stdout, stderr } = await run(process.execPath, ['service.mjs', file], {
    cwd: folder,
    timeout: 25_000,
  });
  expect(stderr).toBe('');
  return stdout;
}

const sandbox = await startSandbox({ port: null });
const offersLists = await new Urtuu(sandbox.key, { fetch: sandbox.fetch }).messages.list().then(
  () => true,
  () => false,
);
await sandbox.close();

describe('docs/client.md', () => {
  it('has examples for every section that needs one', () => {
    const sections = [...guide.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
    const without = sections.filter((section) => !blocks.some(({ heading }) => heading === section));
    expect(without).toEqual(['Install', 'Retries', 'Options', 'Methods']);
    expect(blocks.filter(({ output }) => output !== null).length).toBeGreaterThan(8);
  });

  it.each(blocks.map((block, at) => [`${block.heading}, block ${at + 1}`, block, at] as const))(
    '%s',
    async (_, { code, output }, at) => {
      // A service without lists is the other case of the guide.
      if (/\.messages\.list\(/.test(code) && !offersLists) {
        await expect(outputOf(code, at)).rejects.toThrow('does not offer lists of messages');
        return;
      }
      expect(await outputOf(code, at)).toBe(output ?? '');
    },
  );

  it('names every method of the client', () => {
    const client = new Urtuu(apiKey);
    const methods = Object.entries(client).flatMap(([name, part]) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(part))
        .filter((method) => method !== 'constructor')
        .map((method) => `${name}.${method}`),
    );
    const section = guide.slice(guide.indexOf('## Methods'));
    const named = [...section.matchAll(/`(\w+\.\w+)\(/g)].map(([, method]) => method);
    expect([...named].sort()).toEqual(methods.sort());
  });
});
