import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { type Check, examine } from '../../doctor/checks.js';
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

export const doctor: CommandBody = (command, context) => {
  command.description(
    'Check what a send needs: Node.js, configuration, data, key, service, clock and rate. Sends nothing.',
  );
  describe(command, {
    view,
    examples: [
      ['urtuu doctor', 'find out why something does not work'],
      ['urtuu doctor --profile work --json', 'check another profile, for a program'],
    ],
    ok: 'all is well',
    exits: [4, 5, 12],
    json: '[{"check": "key", "status": "ok", "detail": "from URTUU_API_KEY", "hint": null}]',
  });
  command.action(async () => {
    const bad: Check[] = [];
    try {
      await context.io.printAll(view, noting(bad, examine(context)));
    } finally {
      // The error that follows has the hint of the first one that failed.
      const told = bad.find(({ status }) => status === 'failed');
      for (const each of bad) if (each !== told) context.io.note(`${each.check}: ${each.hint}`);
    }
  });
};

async function* noting(bad: Check[], checks: AsyncIterable<Check>): AsyncGenerator<Check> {
  for await (const check of checks) {
    if (check.status !== 'ok') bad.push(check);
    yield check;
  }
}
