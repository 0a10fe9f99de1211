import { describe } from '../../describe.js';
import { type Check, examine } from '../../doctor/checks.js';
import { field, type View } from '../../output/view.js';
import type { CommandBody } from '../../program.js';

const view: View<Check> = {
  columns: [field('check'), field('status', { kind: 'status' }), field('detail'), field('hint')],
  record: (check) => check,
};

export const doctor: CommandBody = (command, context) => {
  command.description(
    'Check what a send needs: Node, configuration, key, service, clock and rate. Sends nothing.',
  );
  describe(command, {
    view,
    examples: [
      ['urtuu doctor', 'find out why something does not work'],
      ['urtuu doctor --profile work --json', 'check another profile, for a program'],
    ],
    exits: [4, 5],
    json: '[{"check": "key", "status": "ok", "detail": "from URTUU_API_KEY", "hint": null}]',
  });
  command.action(() => context.printAll(view, examine(context)));
};
