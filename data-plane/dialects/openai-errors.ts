/** The error body of all OpenAI formats. https://platform.openai.com/docs/guides/error-codes */
import type { FailureCode, GatewayError } from '@gateway/shared/failures';
import type { JsonObject } from './fields.ts';
import { writeJsonFrame } from './sse.ts';

/** OpenAI's codes for our failure codes, where they differ. */
const CODES: Partial<Record<FailureCode, string>> = {
  invalid_key: 'invalid_api_key',
  insufficient_funds: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  too_many_concurrent: 'rate_limit_exceeded',
  upstream_busy: 'server_overloaded',
  unavailable: 'server_overloaded',
};

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  501: 'not_implemented_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Encodes the body of an error answer: `{error: {message, type, param, code}}`. */
export function encodeOpenAiError(error: GatewayError): JsonObject {
  const { code, status, message, details } = error;
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  const ownCode = details.formatCode ?? CODES[code] ?? code;
  return { error: { message, type, param: details.parameter ?? null, code: ownCode } };
}

/**
 * Encodes the last frame of a failed stream. No `[DONE]` follows: official SDKs throw on a frame with
 * `error`.
 */
export function encodeOpenAiStreamError(error: GatewayError): string {
  return writeJsonFrame(encodeOpenAiError(error));
}
