import { parseArgs } from 'node:util';
import { Machine } from '../support/binary.js';
import {
  type Command,
  carelessCommand,
  type Finding,
  failAt,
  placesOf,
  realCommand,
  whyNoInjection,
} from './bulk-syscalls.js';
import { RecordingService } from './recording-service.js';

// npm run torture -- syscalls [--only <part of "call path">] [--every N]
const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, every: { type: 'string', default: '1' } },
});
const print = (line: string) => process.stdout.write(`${line}\n`);
const nameOf = ({ place: { call, path, nth } }: Pick<Finding, 'place'>) => `${call} ${path}, time ${nth}`;

async function failAll(
  service: RecordingService,
  title: string,
  command: Command,
  only: string,
): Promise<Finding[]> {
  const started = Date.now();
  const places = (await placesOf(service, command)).filter((place) =>
    `${place.call} ${place.path}`.includes(only),
  );
  const chosen = places.filter((_, index) => index % Number(values.every) === 0);
  const findings: Finding[] = [];
  for (const place of chosen) {
    const finding = await failAt(service, command, place);
    findings.push(finding);
    for (const wrong of finding.wrong) print(`  ${nameOf(finding)}: ${wrong}`);
  }
  const reached = findings.filter((each) => each.reached);
  const wrong = reached.filter((each) => each.wrong.length > 0);
  const ended = (exit: Finding['exit']) => reached.filter((each) => each.exit === exit).length;
  const seconds = Math.round((Date.now() - started) / 1_000);
  print(
    `${title}: ${reached.length} calls failed once (${chosen.length} of ${places.length} tried), ` +
      `${wrong.length} wrong; ${ended(13)} ended with 13, ${ended(0)} with 0; ${seconds} s`,
  );
  return findings;
}

async function main(): Promise<boolean> {
  const why = whyNoInjection();
  if (why !== null) throw new Error(why);
  const service = await RecordingService.start();
  const machine = new Machine();
  try {
    const waiting = { ...realCommand, options: ['--wait'] };
    const real = [
      ...(await failAll(service, 'urtuu sms bulk', realCommand, values.only)),
      ...(await failAll(service, 'urtuu sms bulk --wait', waiting, values.only || 'july/journal')),
    ];
    const careless = await failAll(
      service,
      'control, a journal that overlooks errors',
      await carelessCommand(machine.home),
      'july/journal',
    );
    const caught = careless.filter(({ wrong }) => wrong.some((each) => each.includes('sends after it')));
    if (caught.length === 0) print('the control was not caught, so this run proves nothing');
    return (
      caught.length > 0 &&
      real.every(({ wrong }) => wrong.length === 0) &&
      real.some(({ reached }) => reached)
    );
  } finally {
    await service.close();
    machine.remove();
  }
}

main().then(
  (right) => {
    process.exitCode = right ? 0 : 1;
  },
  (error: unknown) => {
    print(String(error instanceof Error ? error.stack : error));
    process.exitCode = 1;
  },
);
