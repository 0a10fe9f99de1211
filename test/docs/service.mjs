// Runs a code block of docs/client.md; the service answers where the client looks for it by default.
import { argv, env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { startSandbox } from 'urtuu/sandbox';

const sandbox = await startSandbox();
env.URTUU_API_KEY = sandbox.key;
env.URTUU_BASE_URL = sandbox.url;
const { fetch } = globalThis;
globalThis.fetch = (input, init) =>
  new URL(input).origin === 'http://127.0.0.1:7788' ? sandbox.fetch(input, init) : fetch(input, init);
try {
  await import(pathToFileURL(argv[2]).href);
} finally {
  await sandbox.close();
}
