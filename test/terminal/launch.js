// Runs a command on its own terminal and writes down how it ended: node launch.js <outcome file> <command...>
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';

const [, , file, command, ...args] = process.argv;
// Ctrl-C is for everybody at the terminal; this has to be there afterwards.
process.on('SIGINT', () => {});
spawn(command, args, { stdio: 'inherit' }).on('close', (code, signal) => {
  writeFileSync(`${file}.new`, JSON.stringify({ code, signal }));
  renameSync(`${file}.new`, file);
});
