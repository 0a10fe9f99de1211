import { parseArgs } from 'node:util';
import { type Count, tortureBulk } from './bulk-torture.js';

// npm run torture -- bulk [--seed N] [--recipients N] [--kills N] [--rounds N] [--faults 0.2] [--rate N]
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    recipients: { type: 'string', default: '100000' },
    kills: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '20' },
    faults: { type: 'string', default: '0.2' },
    rate: { type: 'string', default: '20' },
  },
});
const print = (line: string) => process.stdout.write(`${line}\n`);
const said = ({ recipients, lost, twice }: Count) =>
  `${lost} lost, ${twice} twice (${recipients} recipients)`;

async function main(): Promise<void> {
  const seed = Number(values.seed);
  print(`seed ${seed}`);
  const started = Date.now();
  const result = await tortureBulk({
    seed,
    recipients: Number(values.recipients),
    kills: Number(values.kills),
    rounds: Number(values.rounds),
    faults: Number(values.faults),
    rate: Number(values.rate),
    controlRecipients: 2_000,
    tell: print,
  });
  const seconds = Math.round((Date.now() - started) / 1_000);
  print(
    `${result.kills} kills, ${result.requests} requests, ${result.faults} of them with a fault, ${seconds} s`,
  );
  print(`urtuu sms bulk: ${said(result.engine)}`);
  print(`control, a random key per process: ${said(result.randomKeys)}`);
  print(`control, a key from the content, the file edited: ${said(result.contentKeys)}`);
  const proven = result.randomKeys.twice > 0 && result.contentKeys.twice > 0;
  if (!proven) print('the controls show no duplicates, so this run proves nothing');
  process.exitCode = proven && result.engine.lost + result.engine.twice === 0 ? 0 : 1;
}

main().catch((error: unknown) => {
  print(String(error instanceof Error ? error.stack : error));
  process.exitCode = 1;
});
