import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { readId } from '../../input/ids.js';
import { required } from '../../input/required.js';
import { readText } from '../../input/text.js';
import { verifiedExample } from '../../output/examples.js';
import { verificationView } from '../../output/views.js';

export const verifyCheck: CommandBody<'io' | 'network'> = (command, { io, network }) => {
  command
    .description('Check a verification code. A wrong code exits with 10 and shows the tries left.')
    .argument('[id]', 'id of the verification', readId)
    .argument('[code]', 'the code; - reads standard input');
  addHelp(command, {
    view: verificationView,
    sends: true,
    examples: [
      ['urtuu verify check 7f9c...e1 123456', 'check a code'],
      ['urtuu verify check "$id" && echo verified', 'prompt for the code on a terminal'],
    ],
    ok: 'the code is right',
    exits: [4, 5, 6, 8, 10, 12],
    json: verifiedExample,
  });
  command.action(async (given: string | undefined, typed: string | undefined) => {
    const source = { value: typed, file: undefined, name: '[code]', fileOption: '' };
    const { id, code } = await required(io, {
      id: { value: given, name: '<id>', question: 'Id of the verification:' },
      code: { value: await readText(io.files, source), name: '<code>', question: 'Code:' },
    });
    const { verify } = await network.client();
    const verification = await io.withProgress('Checking', () => verify.check(id, { code: code.trim() }));
    await io.print(verificationView, verification);
  });
};
