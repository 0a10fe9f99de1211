import { UrtuuError } from '../../../client/index.js';
import { type Verification, verificationLimits } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import type { Context } from '../../context.js';
import { inputError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { readId } from '../../input/ids.js';
import { ask, type Check, required } from '../../input/required.js';
import { readText } from '../../input/text.js';
import { verifiedExample } from '../../output/examples.js';
import { verificationView } from '../../output/views.js';
import { ensureShown } from '../../single/shown.js';

export const verifyCheck: CommandBody<'io' | 'network'> = (command, { io, network }) => {
  command
    .description('Check a verification code. A wrong code exits with 10 and shows the attempts left.')
    .argument('[id]', 'id of the verification', readId)
    .argument('[code]', 'the code; - reads standard input');
  addHelp(command, {
    view: verificationView,
    effects: ['spends'],
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
    const written = await readText(io.files, source);
    const verdict = written === undefined || checkCode(written);
    if (verdict !== true) throw inputError(verdict, 'No attempt was used up.');
    const { id, code } = await required(io, {
      id: { value: given, name: '<id>', question: 'Id of the verification:' },
      code: { value: written, name: '<code>', question: 'Code:', check: checkCode },
    });
    const { verify } = await network.client();
    const check = (each: string) =>
      io.withProgress('Checking', () => verify.check(id, { code: digitsOf(each) }));
    const verification = await (written === undefined ? untilRight(io, check, code) : check(code));
    await io.print(verificationView, verification);
    ensureShown(io.printer, {
      message: `The code is right: the verification ${verification.id} is ${verification.status}.`,
      command: `urtuu verify get ${verification.id}`,
      details: { id: verification.id },
    });
  });
};

/** Prompts again after a wrong code, as long as attempts are left. */
async function untilRight(
  io: Context['io'],
  check: (code: string) => Promise<Verification>,
  first: string,
): Promise<Verification> {
  for (let code = first; ; ) {
    try {
      return await check(code);
    } catch (error) {
      const left = error instanceof UrtuuError && error.code === 'invalid_code' && error.attempts_remaining;
      if (!left) throw error;
      code = await ask(io, { question: `Wrong code. Attempts remaining: ${left}. Code:`, check: checkCode });
    }
  }
}

const digitsOf = (code: string) => code.replace(/[\s-]/g, '');

const checkCode: Check = (written) => {
  const { min, max } = verificationLimits.codeLength;
  const digits = digitsOf(written);
  if (/^\d+$/.test(digits) && digits.length >= min && digits.length <= max) return true;
  return `not a code: a code has ${min} to ${max} digits`;
};
