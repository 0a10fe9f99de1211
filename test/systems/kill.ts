import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../support/random.js';
import { type Machine, outcomeOf } from './machine.js';
import type { TestService } from './service.js';

export interface KillTest {
  machine: Machine;
  service: TestService;
  recipients: number;
  kills: number;
  seed: number;
}

export interface KillResult {
  lost: number;
  twice: number;
  /** What a harness must find where the same list goes out under another name. */
  twiceInControl: number;
}

const inControl = 50;

/**
 * One job, killed again and again in the middle of its sending while the network loses requests and answers,
 * then run to its end. Half of the recipients have a text of their own, the others share ten.
 */
export async function killBulk({ machine, service, recipients, kills, seed }: KillTest): Promise<KillResult> {
  const random = seededRandom(seed);
  const numbers = Array.from({ length: recipients }, (_, index) => String(88_000_000 + index));
  const list = (name: string, some: readonly string[]) => {
    const rows = some.map((to, index) => `${to},${index % 2 === 0 ? `No ${to}` : `Text ${index % 20}`}`);
    writeFileSync(join(machine.home, name), `phone,message\r\n${rows.join('\r\n')}\r\n`);
  };
  list('list.csv', numbers);
  service.fault = () => {
    const chance = random();
    return chance < 0.01 ? 'request lost' : chance < 0.02 ? 'answer lost' : null;
  };
  const words = (file: string, job: string) => {
    const send = ['sms', 'bulk', file, '--text', '{message}', '--job', job];
    return [...send, '--yes', '--json', '--quiet', '--rate', '2000'];
  };
  let killed = 0;
  while (killed < kills) {
    const resume = killed > 0 && random() < 0.3;
    const posted = service.posted(1 + Math.floor((random() * recipients) / 50));
    const args = resume ? ['jobs', 'resume', 'july', '--quiet', '--rate', '2000'] : words('list.csv', 'july');
    const child = machine.start(args, service.env);
    const outcome = outcomeOf(child);
    await Promise.race([posted, outcome]);
    child.kill('SIGKILL');
    const { code, stdout, stderr } = await outcome;
    if (code === 0 || code === 11) throw new Error(`it ended before it was killed ${kills} times: ${stderr}`);
    if ((code === 13 || code === 1) && stderr !== '') throw new Error(`${stdout}${stderr}`);
    killed += 1;
  }
  await finish(machine, service, words('list.csv', 'july'), recipients);
  const again = await machine.run(words('list.csv', 'july'), service.env);
  if (again.code !== 11) throw new Error(`the finished job ended with ${again.code}: ${again.stderr}`);
  const got = await service.received();
  const times = numbers.map((number) => got.get(number) ?? 0);
  const some = numbers.slice(0, inControl);
  list('control.csv', some);
  await finish(machine, service, [...words('control.csv', 'august'), '--again'], inControl);
  const control = await service.received();
  return {
    lost: times.filter((count) => count === 0).length,
    twice: times.filter((count) => count > 1).length,
    twiceInControl: some.filter((number) => (control.get(number) ?? 0) > 1).length,
  };
}

/** The same command again, as a person would, until everybody was accepted. */
async function finish(
  machine: Machine,
  service: TestService,
  words: string[],
  planned: number,
): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    const { code, stdout, stderr } = await machine.run(words, service.env);
    if (code === 0) {
      const result = JSON.parse(stdout) as { planned: number; accepted: number };
      if (result.planned === planned && result.accepted === planned) return;
      throw new Error(`exit 0 with ${stdout}`);
    }
    if (![5, 6].includes(code ?? -1)) throw new Error(`it ended with ${code}: ${stderr}`);
  }
  throw new Error('it does not end');
}
