import type {
  Verification,
  VerificationResult,
  VerifyCheckParams,
  VerifyCreateParams,
} from '../../contract/index.js';
import { hasStatus, isVerified } from '../proof.js';
import { type Request, readCall, segment, verifyCall } from '../request.js';

/**
 * Verification codes. `create` and `check` are not resent after a network failure or a 5xx: that would send a
 * second code, or count a try twice. The fetch of Bun and Deno may repeat a request by itself when a kept connection
 * is reset, so there both take a connection that nothing used before.
 */
export class Verify {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  /** Sends a code to a number or an address (POST /v1/verify). */
  async create(params: VerifyCreateParams): Promise<VerificationResult> {
    return this.#request(verifyCall('/verify', params, hasStatus));
  }

  /**
   * Resolves when the code is right, and with that verification only (POST /v1/verify/{id}/check).
   * @throws {UrtuuError} `invalid_code` with `attempts_remaining` when it is wrong; `verification_closed` when
   * the verification is verified, expired or out of attempts.
   */
  async check(id: string, params: VerifyCheckParams): Promise<Verification> {
    return this.#request(verifyCall(`/verify/${segment(id)}/check`, params, isVerified(id)));
  }

  /** Reads a verification (GET /v1/verify/{id}). */
  async get(id: string): Promise<Verification> {
    return this.#request(readCall(`/verify/${segment(id)}`, hasStatus));
  }
}
