/** Errors of the chat completions format, both ways. https://platform.openai.com/docs/guides/error-codes */
import type { FailureCode, GatewayError } from '@gateway/shared/failures';
import { isObject, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { upstreamFailure } from '../upstream-errors.ts';

/** Codes that OpenAI's clients know under another word. */
const CODE_WORDS: Partial<Record<FailureCode, string>> = {
  invalid_key: 'invalid_api_key', insufficient_funds: 'insufficient_quota', rate_limited: 'rate_limit_exceeded',
  too_many_concurrent: 'rate_limit_exceeded', upstream_busy: 'server_overloaded', unavailable: 'server_overloaded',
};

const TYPES: Record<number, string> = {
  401: 'authentication_error', 402: 'insufficient_quota', 403: 'permission_error', 404: 'not_found_error',
  408: 'timeout_error', 413: 'request_too_large', 429: 'rate_limit_error', 501: 'not_implemented_error',
  503: 'overloaded_error', 504: 'timeout_error',
};

/** The body of an error answer: `{error: {message, type, param, code}}`. */
export function encodeError(error: GatewayError): JsonObject {
  const { code, status, message, details } = error;
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param: details.parameter ?? null, code: CODE_WORDS[code] ?? code } };
}

/** The last frame of a stream that failed. No `[DONE]` follows: official SDKs throw on a chunk with `error`. */
export function encodeStreamError(error: GatewayError): string {
  return `data: ${JSON.stringify(encodeError(error))}\n\n`;
}

/** What an upstream's error answer means to the client. */
export function decodeError(status: number, body: string): GatewayError {
  return upstreamFailure({ status, message: messageIn(body), body });
}

/** The message wherever chat-compatible providers put it. */
function messageIn(body: string): string {
  const parsed = parseObject(body);
  if (!parsed) return '';
  const { error, message, detail } = parsed;
  if (isObject(error)) return textOf(error.message);
  return textOf(error) || textOf(message) || textOf(detail);
}
