import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { readId } from '../../input/ids.js';
import { required } from '../../input/required.js';
import { pendingExample } from '../../output/examples.js';
import { verificationView } from '../../output/views.js';

export const verifyGet: CommandBody = (command, context) => {
  command
    .description('Show a verification. Its code is never shown.')
    .argument('[id]', 'id of the verification', readId);
  describe(command, {
    view: verificationView,
    examples: [
      ['urtuu verify get 7f9c...e1', 'show its status and the tries that are left'],
      ['urtuu verify get "$id" --json | jq -r .status', 'in a script'],
    ],
    exits: [4, 5, 8, 12],
    json: pendingExample,
  });
  command.action(async (given: string | undefined) => {
    const { id } = await required(context.io, {
      id: { value: given, name: '<id>', question: 'Id of the verification:' },
    });
    const { verify } = await context.network.client();
    await context.io.print(verificationView, await verify.get(id));
  });
};
