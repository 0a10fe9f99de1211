import type {
  Verification,
  VerificationResult,
  VerifyCheckParams,
  VerifyCreateParams,
} from '../../contract/index.js';
import { hasStatus, isVerified } from '../proof.js';
import { type RequestSender, readCall, segment, verifyCall } from '../request.js';

/**
 * Verification codes. `create` and `check` are not retried after a network failure or a 5xx: that could send a second
 * code, or count a try twice.
 */
export class Verify {
  readonly #request: RequestSender;

  constructor(request: RequestSender) {
    this.#request = request;
  }

  /**
   * Sends a code to a number or an email address (POST /v1/verify).
   * @throws {UrtuuError} `unsupported_number`, `recipient_rate_limited`, `insufficient_credits` ...
   */
  async create(params: VerifyCreateParams): Promise<VerificationResult> {
    return this.#request(verifyCall('/verify', params, hasStatus));
  }

  /**
   * Checks a code and resolves only when it is right (POST /v1/verify/{id}/check).
   * @throws {UrtuuError} `invalid_code` with `attempts_remaining` when it is wrong; `verification_closed` when
   * the verification is verified, expired or out of attempts ...
   */
  async check(id: string, params: VerifyCheckParams): Promise<Verification> {
    return this.#request(verifyCall(`/verify/${segment(id)}/check`, params, isVerified(id)));
  }

  /**
   * Reads a verification (GET /v1/verify/{id}).
   * @throws {UrtuuError} `not_found` ...
   */
  async get(id: string): Promise<Verification> {
    return this.#request(readCall(`/verify/${segment(id)}`, hasStatus));
  }
}
