import { bulkClass, classHeader, clientErrors } from '../../contract/index.js';
import { type Call, newProgress, type Progress } from '../call.js';
import { UrtuuError, type UrtuuErrorParts } from '../error.js';
import type { Settings } from '../options.js';
import { redactorOf } from '../secret.js';
import type { System } from '../system.js';
import { type Answer, readAnswer } from './answer.js';
import { type ConnectFailure, connectFailure, proxyWords, systemCodeOf } from './connect.js';
import { inDoubtAfter } from './doubt.js';
import { type AttemptEnd, type AttemptRequest, exchange, type Limits } from './exchange.js';
import { callHook, type ResponseHook } from './response-hook.js';
import { planRetry } from './retry.js';
import { newConnection } from './runtime.js';

/** Makes a call and retries it; rejects with an UrtuuError. */
export type RequestSender = <Result>(call: Call) => Promise<Result>;

type FailureParts = Pick<
  UrtuuErrorParts,
  'code' | 'message' | 'status' | 'retryAfter' | 'fields' | 'cause' | 'requestId'
>;
type AttemptOutcome = { ok: true; result: object } | { ok: false; parts: FailureParts; requestSent: boolean };

/** Only this closure holds the key, so that inspect, JSON and errors cannot show it. */
export function createRequestSender(apiKey: string, settings: Settings, system: System): RequestSender {
  const { baseUrl, fetch, userAgent, onResponse } = settings;
  const authorization = `Bearer ${apiKey}`;
  const redactor = redactorOf(apiKey);

  function attempt(
    { kind, path, body, isBulk }: Call,
    idempotencyKey: string | null,
    limits: Limits,
  ): Promise<AttemptEnd> {
    const headers: Record<string, string> = {
      Authorization: authorization,
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': userAgent,
    };
    if (body !== null) headers['Content-Type'] = 'application/json';
    if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey;
    if (isBulk) headers[classHeader] = bulkClass;
    const request: AttemptRequest =
      body === null
        ? { method: 'GET', headers, redirect: 'manual' }
        : { method: 'POST', headers, body, redirect: 'manual' };
    // Without an idempotency key, a repeat by the runtime would send a second code or use a second attempt.
    if (kind === 'verify') Object.assign(request, newConnection());
    return exchange(fetch, baseUrl + path, request, limits, system);
  }

  function outcomeOf(exchanged: AttemptEnd, call: Call, limits: Limits): AttemptOutcome {
    if (exchanged.answer !== null) {
      const reading = { proof: call.proof, redactor, baseUrl, now: system.now() };
      const outcome = readAnswer(exchanged.answer, reading);
      return outcome.ok
        ? outcome
        : { ...outcome, parts: withExtensionName(outcome.parts, call), requestSent: true };
    }
    const { code, cause, headReceived, aborted } = exchanged;
    const failure = headReceived ? null : connectFailure(cause);
    const requestSent = failure === null;
    if (aborted) return { ok: false, parts: abortedParts(limits.signal), requestSent };
    const message =
      failure === null
        ? noAnswerMessage(code, cause, limits.timeout)
        : noConnectionMessage(code, failure, limits.timeout);
    const parts = {
      code,
      message: redactor.text(message),
      status: null,
      retryAfter: null,
      cause: redactor.cause(cause),
    };
    return { ok: false, parts, requestSent };
  }

  function abortedParts(signal: AbortSignal | null): FailureParts {
    const cause = redactor.cause(signal?.reason);
    return {
      code: 'connection_error',
      message: 'the call was aborted',
      status: null,
      retryAfter: null,
      cause,
    };
  }

  function noConnectionMessage(code: NoAnswer, failure: ConnectFailure, timeout: number): string {
    const detail = failure.code === null ? '' : ` (${failure.code})`;
    const reason = `${failure.reason}${detail}`;
    if (code === 'connection_error') return `cannot connect to ${baseUrl}: ${reason}`;
    return `cannot connect to ${baseUrl} within ${timeout} ms${failure.code === null ? '' : `: ${reason}`}`;
  }

  function report(hook: ResponseHook, call: Call, answer: Answer, attempt: number, durationMs: number): void {
    const method = call.body === null ? 'GET' : 'POST';
    const { pathname } = new URL(baseUrl + call.path);
    callHook(hook, { method, path: redactor.text(pathname), attempt, durationMs }, answer, redactor);
  }

  return async <Result>(call: Call): Promise<Result> => {
    const { kind } = call;
    const { signal } = call.settings;
    const timeout = (call.settings.timeout ?? settings.timeout) + (call.serviceWaits ?? 0);
    const limits: Limits = { timeout, signal };
    const maxRetries = call.settings.maxRetries ?? settings.maxRetries;
    const hasCallersKey = call.idempotencyKey !== null;
    const progress = call.progress ?? newProgress();
    let key = kind === 'send' && !hasCallersKey ? system.newIdempotencyKey() : call.idempotencyKey;
    for (let retries = 0; ; retries += 1) {
      if (system.ready !== undefined) await system.ready(call.body === null ? 'GET' : 'POST');
      if (signal?.aborted) throw errorOf(abortedParts(signal), progress, key);
      progress.attempts += 1;
      const startedAt = onResponse === null ? 0 : system.elapsed();
      const exchanged = await attempt(call, key, limits);
      if (exchanged.answer !== null && onResponse !== null) {
        report(onResponse, call, exchanged.answer, progress.attempts, system.elapsed() - startedAt);
      }
      const outcome = outcomeOf(exchanged, call, limits);
      if (outcome.ok) {
        progress.requestSent = true;
        return outcome.result as Result;
      }
      const { parts, requestSent } = outcome;
      progress.requestSent ||= requestSent;
      progress.requestId = parts.requestId ?? progress.requestId;
      progress.inDoubt = inDoubtAfter(progress.inDoubt, { ...parts, requestSent }, kind);
      const isAborted = exchanged.answer === null && exchanged.aborted;
      const retry = isAborted
        ? null
        : planRetry(parts, { kind, hasCallersKey, retries, maxRetries }, system.random);
      if (retry === null) throw errorOf(parts, progress, key);
      await system.sleep(retry.wait, signal);
      // An aborted call keeps the key of its last attempt.
      if (retry.needsNewKey && !signal?.aborted) key = system.newIdempotencyKey();
    }
  };
}

type NoAnswer = 'timeout' | 'connection_error';

function noAnswerMessage(code: NoAnswer, cause: unknown, timeout: number): string {
  const detail = code === 'timeout' ? `${timeout} ms` : systemCodeOf(cause);
  const words = [clientErrors[code].meaning + (detail === null ? '' : ` (${detail})`), proxyWords(cause)];
  return words.filter((each) => each !== null).join(': ');
}

function withExtensionName(parts: FailureParts, { extension }: Call): FailureParts {
  const isMissing =
    extension !== undefined &&
    (parts.code === 'not_found' || parts.code === 'method_not_allowed') &&
    (extension.statuses ?? [404, 405]).some((status) => status === parts.status);
  return isMissing ? { ...parts, message: `this service does not offer ${extension.name}` } : parts;
}

function errorOf(parts: FailureParts, progress: Progress, idempotencyKey: string | null): UrtuuError {
  return new UrtuuError({ ...parts, ...progress, idempotencyKey });
}
