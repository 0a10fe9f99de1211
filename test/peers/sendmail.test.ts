import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Machine, root } from '../support/binary.js';
import { needProgram } from './programs.js';

/** A machine whose `sendmail` is that of urtuu, over its sandbox. */
function machineWithSendmail() {
  const machine = new Machine();
  onTestFinished(() => machine.remove());
  const sendmail = join(machine.home, 'sendmail');
  const binary = join(root, 'bin/urtuu.js');
  writeFileSync(sendmail, `#!/bin/sh\nexec "${process.execPath}" "${binary}" sendmail "$@"\n`);
  chmodSync(sendmail, 0o755);
  const env = machine.environment({ URTUU_SANDBOX: '1', GIT_CONFIG_NOSYSTEM: '1' });
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { env, cwd: machine.home, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const recipients = async () => {
    const listed = await machine.run(['messages', 'list', '--json'], { env: { URTUU_SANDBOX: '1' } });
    return (JSON.parse(listed.stdout) as { to: string; status: string }[]).map(
      ({ to, status }) => `${to} ${status}`,
    );
  };
  return { sendmail, run, recipients };
}

it("PHP's mail() sends a text in Cyrillic and a mail without a subject to everybody", async () => {
  needProgram('/usr/bin/php', 'php-cli');
  const { sendmail, run, recipients } = machineWithSendmail();
  const mails = [
    `mail('bat@example.mn', 'Тавтай морил', "Сайн уу\\r\\nХоёр\\n", "From: a@example.mn\\r\\nContent-Type: text/plain; charset=UTF-8")`,
    `mail('Bat <bat@example.mn>, c@example.mn', '', 'hi', ['From' => 'a@example.mn', 'X-Mailer' => 'PHP'], '-fa@example.mn')`,
  ];
  const code = `foreach ([${mails.join(', ')}] as $sent) echo $sent ? 'sent ' : 'lost ';`;
  expect(run('/usr/bin/php', '-d', `sendmail_path=${sendmail} -t -i`, '-r', code)).toBe('sent sent ');
  expect((await recipients()).sort()).toEqual([
    'bat@example.mn sent',
    'bat@example.mn sent',
    'c@example.mn sent',
  ]);
});

it('git send-email sends a patch of an author with a Cyrillic name', async () => {
  needProgram('/usr/lib/git-core/git-send-email', 'git-email libmailtools-perl');
  const { sendmail, run, recipients } = machineWithSendmail();
  const git = (...args: string[]) =>
    run('/usr/bin/git', '-c', 'user.name=Бат Дорж', '-c', 'user.email=dev@example.mn', ...args);
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'First');
  run('/bin/sh', '-c', 'echo a > a');
  git('add', 'a');
  git('commit', '-q', '-m', 'Нэм a');
  const [patch = ''] = git('format-patch', '-1').trim().split('\n');
  const quiet = ['--confirm=never', '--suppress-cc=all', '--quiet'];
  git('send-email', `--sendmail-cmd=${sendmail}`, '--to', 'Bold <bold@example.mn>', ...quiet, patch);
  expect(await recipients()).toEqual(['bold@example.mn sent']);
});
