import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { readId } from '../../input/ids.js';
import { required } from '../../input/required.js';
import { pendingExample } from '../../output/examples.js';
import { verificationView } from '../../output/views.js';

export const verifyGet: CommandBody<'io' | 'network'> = (command, { io, network }) => {
  command
    .description('Show a verification, without its code.')
    .argument('[id]', 'id of the verification', readId);
  addHelp(command, {
    view: verificationView,
    effects: ['reads'],
    examples: [
      ['urtuu verify get 7f9c...e1', 'show the status and the attempts left'],
      ['urtuu verify get "$id" --json | jq -r .status', 'in a script'],
    ],
    exits: [4, 5, 8, 12],
    json: pendingExample,
  });
  command.action(async (given: string | undefined) => {
    const { id } = await required(io, {
      id: { value: given, name: '<id>', question: 'Id of the verification:' },
    });
    const { verify } = await network.client();
    await io.print(verificationView, await verify.get(id));
  });
};
