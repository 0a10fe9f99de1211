import type { CommandBody } from '../../command.js';
import { type Check, runChecks } from '../../doctor/checks.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';

const view: View<Check> = {
  columns: [
    field('check'),
    field('status', { kind: 'status' }),
    field('detail'),
    field('hint', { detail: true }),
  ],
  record: (check) => check,
};

export const doctor: CommandBody<'io' | 'network' | 'config' | 'clock'> = (command, context) => {
  command.description(
    'Check Node.js, configuration, data, key, service, clock and rate limit before a send. Sends nothing.',
  );
  addHelp(command, {
    view,
    effects: ['reads'],
    examples: [
      ['urtuu doctor', 'check the profile in use'],
      ['urtuu doctor --profile work --json', 'check another profile, as JSON'],
    ],
    ok: 'no check failed',
    exits: [4, 5, 12],
    json: '[{"check": "key", "status": "ok", "detail": "from URTUU_API_KEY", "hint": null}]',
  });
  command.action(async () => {
    const { io, network, config, clock } = context;
    const bad: Check[] = [];
    try {
      await io.printAll(view, collectBad(bad, runChecks({ files: io.files, network, config, clock })));
    } finally {
      // The error at the end prints the hint of the first failed check.
      const inError = bad.find(({ status }) => status === 'failed');
      for (const each of bad) if (each !== inError) io.note(`${each.check}: ${each.hint}`);
    }
  });
};

async function* collectBad(bad: Check[], checks: AsyncIterable<Check>): AsyncGenerator<Check> {
  for await (const check of checks) {
    if (check.hint !== null) bad.push(check);
    yield check;
  }
}
