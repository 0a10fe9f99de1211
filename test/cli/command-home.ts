import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bounceAddress } from '../../src/service/carriers/smtp/bounce-address.js';
import { deriveKey } from '../../src/service/encryption.js';
import { bounceOf } from '../support/bounces.js';
import { httpRoute, smppRoute } from '../support/routes.js';
import { type Result, run, type Setting } from '../support/run.js';
import type { Known } from './command-lines.js';

/** Nobody listens at it. */
const configurationOf = (route: object) => JSON.stringify({ email: 'off', sms: { routes: [route] } });

/** A home with a sandbox in it that has seen a message, a batch and a verification. */
export class CommandHome {
  path = '';
  readonly env = { URTUU_SANDBOX: '1', URTUU_API_KEY: 'a-key-of-nobody' };
  readonly known: Known = { message: '', batch: '', verification: '', wrong: '' };

  /** Runs a line in this process. */
  readonly here = (line: string, setting: Setting = {}): Promise<Result> =>
    run(line, { home: this.path, env: this.env, ...setting });

  async json(line: string) {
    return JSON.parse((await this.here(`${line} --json`)).stdout);
  }

  async open(): Promise<void> {
    this.path = mkdtempSync(join(tmpdir(), 'urtuu-every-'));
    const { known, path } = this;
    writeFileSync(join(path, 'password'), 'secret\n');
    writeFileSync(
      join(path, 'service.json'),
      configurationOf(smppRoute(1, { password: { file: 'password' } })),
    );
    writeFileSync(join(path, 'gateway.json'), configurationOf(httpRoute(1)));
    writeFileSync(join(path, 'two.csv'), 'phone,name\n99119001,Бат\n99119002,Цэцэг\n');
    writeFileSync(join(path, 'mixed.csv'), 'phone,name\n99119003,Бат\nnobody,Цэцэг\n');
    writeFileSync(join(path, 'mails.csv'), 'email\nbat@example.mn\nbold@example.mn\n');
    known.message = (await this.json('sms send 99112233 hello')).id;
    known.verification = (await this.json('verify create 88001122')).id;
    const [sent] = await this.json('sandbox outbox --to 88001122');
    const code = /\d{6}/.exec(sent.text)?.[0] ?? '';
    known.wrong = `${code.slice(0, 5)}${(Number(code[5]) + 1) % 10}`;
    const bulk = 'sms bulk two.csv --text hi --job july --yes --json';
    known.batch = JSON.parse((await this.here(bulk, { cwd: path })).stdout).batches[0].id;
  }

  /** Makes an address bounce, which then gets nothing more. */
  async bounce(to: string): Promise<void> {
    await this.here('service settings set suppressions true');
    const { id } = await this.json(`email send ${to} --subject s --text t`);
    const secret = readFileSync(join(this.path, '.local/state/urtuu/sandbox/secret'));
    const sender = bounceAddress(id, deriveKey(secret, 'bounce addresses'), 'bounce.example.mn');
    await this.here('service incoming', { stdin: bounceOf(sender, { of: to }) });
  }

  close(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
