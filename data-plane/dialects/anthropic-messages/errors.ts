/** Errors of the messages format, both ways. https://platform.claude.com/docs/en/api/errors */
import type { GatewayError } from '@gateway/shared/failures';
import { isObject, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { writeJsonFrame } from '../sse.ts';
import { upstreamFailure } from '../upstream-errors.ts';

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** The body of an error answer: `{type: 'error', error: {type, message}}`. */
export function encodeError({ status, message }: GatewayError): JsonObject {
  const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message } };
}

/** The last event of a stream that failed. */
export function encodeStreamError(error: GatewayError): string {
  return writeJsonFrame(encodeError(error), 'error');
}

/** What an upstream's error answer means to the client. */
export function decodeError(status: number, body: string): GatewayError {
  const error = parseObject(body)?.error;
  return upstreamFailure({ status, message: isObject(error) ? textOf(error.message) : '', body });
}
