import type {
  Verification,
  VerificationResult,
  VerifyCheckParams,
  VerifyCreateParams,
} from '../../contract/index.js';
import { segment } from '../arguments.js';
import { readCall, verifyCall } from '../call.js';
import type { CallOptions } from '../call-options.js';
import { hasStatus, isVerified } from '../transport/proof.js';
import type { RequestSender } from '../transport/request.js';

/**
 * Verification codes: `client.verify`. `create` and `check` are not retried after a network failure or a 5xx: that
 * could send a second code, or count a try twice.
 */
export class Verify {
  readonly #request: RequestSender;

  /** @internal */
  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Sends a code to a number or an email address (POST /v1/verify).
   * @param params the recipient, and the form of the code
   * @param options of this call
   * @throws {UrtuuError} `unsupported_number`, `recipient_suppressed`, `recipient_rate_limited`, `insufficient_credits` ...
   */
  async create(params: VerifyCreateParams, options?: CallOptions): Promise<VerificationResult> {
    return this.#request(verifyCall('/verify', params, hasStatus, options));
  }

  /**
   * Checks a code and resolves only when it is right (POST /v1/verify/{id}/check).
   * @param id UUID of the verification
   * @param params the code, as the person typed it
   * @param options of this call
   * @throws {UrtuuError} `invalid_code` with `attempts_remaining` when it is wrong; `verification_closed` when
   * the verification is verified, expired or out of attempts ...
   */
  async check(id: string, params: VerifyCheckParams, options?: CallOptions): Promise<Verification> {
    return this.#request(verifyCall(`/verify/${segment(id)}/check`, params, isVerified(id), options));
  }

  /**
   * Reads a verification (GET /v1/verify/{id}).
   * @param id UUID of the verification
   * @param options of this call
   * @throws {UrtuuError} `not_found` ...
   */
  async get(id: string, options?: CallOptions): Promise<Verification> {
    return this.#request(readCall(`/verify/${segment(id)}`, hasStatus, options));
  }
}
