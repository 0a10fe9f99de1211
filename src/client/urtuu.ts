import { refuseBrowser } from './browser.js';
import { readApiKey, readOptions, type UrtuuOptions } from './options.js';
import { createRequest } from './request.js';
import { BalanceReader } from './resources/balance.js';
import { Batches } from './resources/batches.js';
import { Email } from './resources/email.js';
import { Messages } from './resources/messages.js';
import { PricingReader } from './resources/pricing.js';
import { Sms } from './resources/sms.js';
import { Verify } from './resources/verify.js';
import { realSystem, type System } from './system.js';

/**
 * The client: one method per endpoint, on a server only, for whoever holds the key can send with the
 * project's credits. Each method rejects with an `UrtuuError` when the request fails, and retries before that
 * only where it cannot duplicate a message (Official Node.js client).
 *
 * ```ts
 * const client = new Urtuu(); // the key is in URTUU_API_KEY
 * const { id, credits } = await client.sms.send({ to: '99112233', text: 'Сайн байна уу' });
 * ```
 */
export class Urtuu {
  readonly sms: Sms;
  readonly email: Email;
  readonly verify: Verify;
  readonly messages: Messages;
  readonly batches: Batches;
  readonly balance: BalanceReader;
  readonly pricing: PricingReader;

  /**
   * @param apiKey read from the environment variable `URTUU_API_KEY` when absent
   * @throws {TypeError | RangeError} when the key or an option is missing or malformed
   */
  constructor(apiKey?: string, options?: UrtuuOptions);
  constructor(apiKey?: string, options: UrtuuOptions = {}, system: System = realSystem) {
    refuseBrowser(globalThis);
    const request = createRequest(readApiKey(apiKey), readOptions(options), system);
    this.sms = new Sms(request);
    this.email = new Email(request);
    this.verify = new Verify(request);
    this.messages = new Messages(request);
    this.batches = new Batches(request);
    this.balance = new BalanceReader(request);
    this.pricing = new PricingReader(request);
  }
}
