import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { serviceRows } from './service/rows.js';

// npm run torture -- service [--seed N] [--only <part of a row's name>] [--clients N] [--keys N] [--kills N] ...
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
    clients: { type: 'string', default: '100' },
    keys: { type: 'string', default: '1000' },
    kills: { type: 'string', default: '50' },
    stops: { type: 'string', default: '20' },
    pauses: { type: 'string', default: '10' },
    requests: { type: 'string', default: '10000' },
  },
});

async function main(): Promise<boolean> {
  const { only } = values;
  const size = (name: keyof typeof values) => Number(values[name]);
  const seed = size('seed');
  const sizes = {
    clients: size('clients'),
    keys: size('keys'),
    kills: size('kills'),
    stops: size('stops'),
    pauses: size('pauses'),
    requests: size('requests'),
    controlKills: 6,
  };
  const table = new Table({ head: ['what', 'measured', 'found', 's'], style: { head: [], border: [] } });
  let right = true;
  process.stdout.write(`seed ${seed}\n`);
  for (const row of serviceRows(sizes).filter(({ name }) => name.includes(only))) {
    for (const { name, play, isControl } of [
      { ...row, isControl: false },
      ...row.controls.map((control) => ({ ...control, isControl: true })),
    ]) {
      const started = Date.now();
      const { measured, found, wrong } = await play(seed);
      const seconds = ((Date.now() - started) / 1_000).toFixed(0);
      const said = isControl && wrong === 0 ? `${found}: the control shows nothing` : found;
      table.push([isControl ? `control: ${name}` : name, measured, said, seconds]);
      process.stdout.write(`${name}: ${measured}: ${said}\n`);
      if ((wrong === 0) === isControl) right = false;
    }
  }
  process.stdout.write(`${table.toString()}\n`);
  return right;
}

main().then(
  (right) => {
    process.exitCode = right ? 0 : 1;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 1;
  },
);
