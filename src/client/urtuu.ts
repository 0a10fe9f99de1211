import { refuseBrowser } from './browser.js';
import { readApiKey, readOptions, type UrtuuOptions } from './options.js';
import { BalanceReader } from './resources/balance.js';
import { Batches } from './resources/batches.js';
import { Email } from './resources/email.js';
import { Events } from './resources/events.js';
import { Inbox } from './resources/inbox.js';
import { Messages } from './resources/messages.js';
import { PricingReader } from './resources/pricing.js';
import { Sms } from './resources/sms.js';
import { Suppressions } from './resources/suppressions.js';
import { Verify } from './resources/verify.js';
import { realSystem, type System } from './system.js';
import { createRequestSender } from './transport/request.js';

/**
 * The client of the messaging service: one method per endpoint. For servers only, because the API key can spend the
 * project's credits. Every method retries where that cannot duplicate a message, and then rejects with an
 * `UrtuuError`; invalid arguments are a TypeError or a RangeError (Official Node.js client).
 *
 * ```ts
 * const client = new Urtuu(); // reads URTUU_API_KEY
 * const { id, credits } = await client.sms.send({ to: '99112233', text: 'Сайн байна уу' });
 * ```
 */
export class Urtuu {
  /** Sends SMS, one or many. */
  readonly sms: Sms;
  /** Sends emails, one or many. */
  readonly email: Email;
  /** Sends and checks verification codes. */
  readonly verify: Verify;
  /** Reads and lists messages. */
  readonly messages: Messages;
  /** Reads, lists and waits for batches. */
  readonly batches: Batches;
  /** Lists received messages. */
  readonly inbox: Inbox;
  /** Reads what happens, as it happens. */
  readonly events: Events;
  /** Reads the balance. */
  readonly balance: BalanceReader;
  /** Reads the prices. */
  readonly pricing: PricingReader;
  /** Says who is sent nothing more. */
  readonly suppressions: Suppressions;

  /**
   * @param apiKey defaults to the environment variable `URTUU_API_KEY`
   * @param options of all calls; `timeout` and `maxRetries` can differ for each
   * @throws {TypeError | RangeError} when the key is missing, or the key or an option is invalid
   */
  constructor(apiKey?: string, options?: UrtuuOptions);
  constructor(apiKey?: string, options: UrtuuOptions = {}, system: System = realSystem) {
    refuseBrowser(globalThis);
    const request = createRequestSender(readApiKey(apiKey), readOptions(options), system);
    this.sms = new Sms(request);
    this.email = new Email(request);
    this.verify = new Verify(request);
    this.messages = new Messages(request);
    this.batches = new Batches(request, system);
    this.inbox = new Inbox(request);
    this.events = new Events(request, system);
    this.balance = new BalanceReader(request);
    this.pricing = new PricingReader(request);
    this.suppressions = new Suppressions(request);
  }
}
