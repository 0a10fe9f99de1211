// The end-to-end tests of the command, with an executable in its place: node test/systems/executable.js FILE
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { bundled, commandSuites, root, testWords } from './bundle.js';

const [file = ''] = process.argv.slice(2);
const files = await bundled(...commandSuites);
const env = { ...process.env, URTUU_TEST_ROOT: root, URTUU_TEST_EXECUTABLE: resolve(file) };
process.exitCode =
  spawnSync(process.execPath, [...testWords, ...files], { stdio: 'inherit', env }).status ?? 1;
