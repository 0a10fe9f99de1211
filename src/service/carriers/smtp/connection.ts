import SMTPConnection, { type SMTPError as NodemailerError } from 'nodemailer/lib/smtp-connection';
import { onAbort } from '../../../contract/on-abort.js';
import type { Clock } from '../../clock.js';
import type { SubmitResult } from '../carrier.js';
import { withoutSecrets } from '../without-secrets.js';
import { MailBody } from './mail-body.js';
import { isFarewell, resultOf } from './results.js';
import type { Login, SmtpSettings } from './smtp-settings.js';

/** Milliseconds until a new connection must be greeted, encrypted and logged in. */
export const openMs = 60_000;
/** Milliseconds until the last byte of a mail must be written (RFC 5321, 4.5.3.2). */
const bodyMs = 120_000;
/** Milliseconds from then until its answer. */
const answerMs = 600_000;
/** Milliseconds until the answer to QUIT or RSET. */
const courtesyMs = 5_000;
/** Longer than all timeouts above, which run on the service's clock. */
const socketTimeout = 2 * answerMs;
/** The longest that a submission over one connection can take. */
export const longestSubmitMs = bodyMs + answerMs;

/** A mail, ready for the wire. */
export interface Mail {
  /** Envelope. */
  from: string;
  to: string;
  bytes: Buffer;
}

/** A logged-in connection to a relay, for one mail after the other. */
export class Connection {
  readonly #smtp: SMTPConnection;
  readonly #clock: Clock;
  /** What it logged in with: some relays repeat it. */
  readonly #secrets: readonly string[];
  #needsReset = false;
  /** Mails that were started. */
  mails = 0;

  private constructor(smtp: SMTPConnection, clock: Clock, secrets: readonly string[]) {
    this.#smtp = smtp;
    this.#secrets = secrets;
    this.#clock = clock;
  }

  static open(
    settings: SmtpSettings,
    clock: Clock,
    signal: AbortSignal,
    within = openMs,
  ): Promise<Connection> {
    const smtp = new SMTPConnection({
      host: settings.host,
      port: settings.port,
      name: settings.name,
      secure: settings.tls === 'implicit',
      requireTLS: settings.tls === 'required',
      ignoreTLS: settings.tls === 'off',
      // A closed connection must not send the rest of a mail.
      socketCloseTimeout: 0,
      socketTimeout,
      connectionTimeout: socketTimeout,
      greetingTimeout: socketTimeout,
    });
    const secrets: string[] = [];
    return new Promise((resolve, reject) => {
      const end = () => {
        cancel();
        unlisten();
      };
      const giveUp = (reason: Error) => {
        end();
        reject(secrets.length === 0 ? reason : new Error(withoutSecrets(secrets)(reason.message)));
        smtp.close();
      };
      const cancel = clock.after(within, () => giveUp(new Error('it does not answer')));
      const onOpen = (error?: NodemailerError | null) => {
        if (error) return giveUp(error);
        end();
        resolve(new Connection(smtp, clock, secrets));
      };
      const unlisten = onAbort(signal, () => giveUp(new Error('it was stopped')));
      smtp.on('error', giveUp);
      smtp.once('end', () => giveUp(new Error('it closed the connection')));
      smtp.connect((error) => {
        if (error || settings.login === null) return onOpen(error);
        logIn(smtp, settings.login, clock, secrets, onOpen);
      });
    });
  }

  get isOpen(): boolean {
    return !this.#smtp.destroyed;
  }

  /** What the relay said last; empty before it said anything. */
  get lastAnswer(): string {
    return withoutSecrets(this.#secrets)(this.#smtp.lastServerResponse || '');
  }

  /**
   * Null if this connection carried mails before, and its relay had ended it before it answered anything to this one.
   * Rejects with OutcomeUnknown if the relay may have accepted the mail.
   */
  submit(mail: Mail, signal: AbortSignal): Promise<SubmitResult | null> {
    const isUsed = this.mails > 0;
    this.mails += 1;
    this.#smtp.lastServerResponse = false;
    const body = new MailBody(mail.bytes, () => String(this.#smtp.lastServerResponse).startsWith('354'));
    return new Promise((resolve, reject) => {
      let cancel = () => {};
      const limit = (milliseconds: number) => {
        cancel();
        cancel = this.#clock.after(milliseconds, () => end(new Error('it does not answer')));
      };
      const end = (error: NodemailerError | null) => {
        cancel();
        unlisten();
        this.#smtp.removeListener('end', onClose);
        const isUnheard = isUsed && !body.isWhole && isFarewell(error, this.#smtp.lastServerResponse);
        this.#afterMail(isUnheard ? null : error, body.isWhole);
        try {
          resolve(isUnheard ? null : resultOf(error, body.isWhole, withoutSecrets(this.#secrets)));
        } catch (unknown) {
          reject(unknown);
        }
      };
      // If it closes because of an error, the error is emitted in the same tick.
      const onClose = () => queueMicrotask(() => end(closedByRelay()));
      const unlisten = onAbort(signal, () => end(new Error('the submission was ended')));
      this.#smtp.once('end', onClose);
      limit(bodyMs);
      body.once('end', () => limit(answerMs));
      this.#smtp.send({ from: mail.from, to: [mail.to], size: mail.bytes.length }, body, end);
    });
  }

  /** The connection stays open if both sides know that the transaction is over. */
  #afterMail(error: NodemailerError | null, isWhole: boolean): void {
    const isAnswered = error === null || (error.code === 'EMESSAGE' && error.response !== undefined);
    this.#needsReset = error?.code === 'EENVELOPE' && error.response !== undefined;
    if (!this.#needsReset && !(isAnswered && isWhole)) this.close();
  }

  /** Ends the transaction of a refused mail. */
  async reset(): Promise<void> {
    if (!this.#needsReset || !this.isOpen) return;
    this.#needsReset = false;
    const isReset = await new Promise<boolean>((resolve) => {
      const cancel = this.#clock.after(courtesyMs, () => resolve(false));
      const end = (done: boolean) => {
        cancel();
        this.#smtp.removeListener('end', onClose);
        resolve(done);
      };
      const onClose = () => end(false);
      this.#smtp.once('end', onClose);
      this.#smtp.reset((error) => end(error === null));
    });
    if (!isReset) this.close();
  }

  /** Resolves once the connection is closed. */
  async quit(): Promise<void> {
    if (!this.isOpen) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(courtesyMs, () => this.close());
      this.#smtp.once('end', () => {
        cancel();
        resolve();
      });
      this.#smtp.quit();
    });
  }

  close(): void {
    this.#smtp.close();
  }
}

const closedByRelay = (): NodemailerError =>
  Object.assign(new Error('it closed the connection'), { code: 'ECONNECTION' });

type OnLogin = (error?: NodemailerError | Error | null) => void;

/** Adds to `secrets` all that it says. */
function logIn(smtp: SMTPConnection, login: Login, clock: Clock, secrets: string[], onEnd: OnLogin): void {
  if ('token' in login) {
    logInByToken(smtp, login, clock, secrets, onEnd);
    return;
  }
  const { user, password } = login;
  secrets.push(password, `\0${user}\0${password}`);
  smtp.login({ credentials: { user, pass: password } }, onEnd);
}

/** XOAUTH2. A token that was used before may have ended: then with another one, once. */
function logInByToken(
  smtp: SMTPConnection,
  { user, token: source }: Extract<Login, { token: unknown }>,
  clock: Clock,
  secrets: string[],
  onEnd: OnLogin,
): void {
  let used = { token: '', isKept: false };
  const answerWith = (token: string) => `user=${user}\x01auth=Bearer ${token}\x01\x01`;
  const oauth2 = {
    // Some relays explain a refusal first, and nodemailer asks again.
    getToken(isAgain: boolean, done: (error: Error | null, token?: string) => void) {
      if (isAgain && !used.isKept) return done(null, used.token);
      if (isAgain) source.drop(used.token);
      source.get(clock.monotonic()).then((got) => {
        used = got;
        secrets.push(got.token, answerWith(got.token));
        done(null, got.token);
      }, done);
    },
    buildXOAuth2Token: (token: string) => Buffer.from(answerWith(token)).toString('base64'),
  };
  const attempt = () =>
    smtp.login({ user, oauth2: oauth2 as never }, (refusal) => {
      if (!refusal) return onEnd();
      const { token, isKept } = used;
      source.drop(token);
      if (isKept && refusal.responseCode !== undefined && !smtp.destroyed) attempt();
      else onEnd(refusal);
    });
  attempt();
}
