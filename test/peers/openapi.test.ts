import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createService } from '../../src/service/index.js';
import { installPackages } from './programs.js';

const folder = mkdtempSync(join(tmpdir(), 'urtuu-openapi-'));
beforeAll(
  () => installPackages(folder, 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'),
  120_000,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const node = (...args: string[]) => execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

/** Of somebody who generates types from the document. */
const program = `
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

declare const process: { argv: string[] };
const [, , baseUrl = '', key = ''] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });

const sent = await client.POST('/v1/sms', { body: { to: '99112233', text: 'Hi' } });
if (sent.data === undefined) throw new Error(sent.error.error.code);
const id: string = sent.data.id;
const read = await client.GET('/v1/messages/{id}', { params: { path: { id } } });
const refused = await client.POST('/v1/sms', { body: { to: '1', text: 'Hi' } });
// @ts-expect-error A message has a text.
await client.POST('/v1/sms', { body: { to: '99112233' } });
console.log(JSON.stringify([read.data?.status, read.data?.to, refused.error?.error.code]));
`;

it('types that openapi-typescript generates are right, and a request made with them is answered', async () => {
  const service = await createService();
  onTestFinished(() => service.close());
  const { url } = await service.listen({ port: 0 });
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: object[] };
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  node('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'api.ts');
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(folder, 'use.ts'), program);
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  node('node_modules/typescript/bin/tsc');
  const { origin } = new URL(url);
  expect(document.servers).toEqual([{ url: '/' }]);
  const run = promisify(execFile)(process.execPath, ['use.js', origin, service.localKey], { cwd: folder });
  expect(JSON.parse((await run).stdout)).toEqual(['sent', '99112233', 'invalid_request']);
}, 120_000);
