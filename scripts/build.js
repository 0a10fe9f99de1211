// Builds what is published: the client for both module systems, the command line and the service as bundles, the manual.
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { bundle, client, mail } from './bundles.js';
import { writeDeclarations } from './declarations.js';
import { writeEntry } from './entries.js';
import { writeLicences } from './licences.js';
import { runTypeScript } from './typescript.js';

/** The entries for users; `exports` in package.json names them too. */
const libraries = { 'client/index': 'src/client/index.ts', 'sandbox/index': 'src/sandbox/index.ts' };

/** The code of every start, of every request, and the small parts of commands: few files take less time. */
const together = [
  {
    name: 'core',
    test: /[/\\]src[/\\]cli[/\\](?:main|application|program|output[/\\]card|platform[/\\]make-folder)\.ts$/,
    priority: 3,
  },
  {
    name: 'network',
    test: /[/\\]src[/\\](?:client[/\\]|cli[/\\](?:rate-limit[/\\]|network[/\\](?:fetch|observe)\.ts))/,
    priority: 2,
  },
  {
    name: 'parts',
    test: /[/\\]src[/\\]cli[/\\](?:single[/\\](?:dry-run|email|finish|options|shown)|history[/\\]recent-ids|input[/\\](?:places|required|text)|output[/\\](?:examples|views)|text[/\\](?:clean|gsm))/,
    priority: 1,
  },
  {
    name: 'job',
    test: /[/\\]src[/\\]cli[/\\](?:bulk[/\\](?:input[/\\](?:header|input-error)|job[/\\]columns|results[/\\]receipt-columns)|csv[/\\]line|output[/\\]separated|files[/\\]output-file|commands[/\\]bulk[/\\]finish[/\\]outcome|platform[/\\](?:socket-lock|sync-folder))\.ts$/,
  },
  { name: 'single', test: /[/\\]src[/\\]cli[/\\]single[/\\](?:answer|send)\.ts$/ },
];

/** The code that opens a service, in one file. */
const service = [{ name: 'core', test: /[/\\]src[/\\]service[/\\]index\.ts$/ }];

rmSync('dist', { recursive: true, force: true });
const built = await Promise.all([
  bundle('client/index', libraries['client/index']),
  bundle('sandbox/index', libraries['sandbox/index']),
  bundle('service/index', 'src/service/index.ts', { together: service }),
  bundle('mail/postal-mime', mail),
  bundle('cli/main', 'src/cli/main.ts', { together }),
]);
built.push(await bundle('client/core', client, { sourcemap: true }));
// It comes where a module is imported late that a group holds, and costs every start: import that one at once.
if (existsSync('dist/cli/rolldown-runtime.cjs'))
  throw new Error('the helpers of the bundler are a file of their own');
// What an earlier build left in the caches is not used, so the name of a build covers the code that reads them.
const named = (BUILD) => bundle('cli/start', 'src/cli/start.ts', { constants: { BUILD } });
const hash = createHash('sha256');
for (const { code } of [...built, await named('')]) hash.update(code);
const start = await named(hash.digest('hex'));

for (const name of Object.keys(libraries)) writeEntry(name);
writeDeclarations(Object.keys(libraries));
writeLicences([...built, start].flatMap(({ inputs }) => inputs));
if ((await runTypeScript('scripts/reference/main.ts', [])) !== 0)
  throw new Error('the manual was not written');
