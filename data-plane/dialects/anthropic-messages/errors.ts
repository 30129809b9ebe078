/** Encodes and decodes errors of the messages format. https://platform.claude.com/docs/en/api/errors */
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

/** Encodes the body of an error answer: `{type: 'error', error: {type, message}}`, perhaps with details. */
export function encodeError({ status, message, details: { formatCode } }: GatewayError): JsonObject {
  const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const details = formatCode === undefined ? {} : { details: { error_code: formatCode } };
  return { type: 'error', error: { type, message, ...details } };
}

/** Encodes the last event of a failed stream. */
export function encodeStreamError(error: GatewayError): string {
  return writeJsonFrame(encodeError(error), 'error');
}

/** Turns an upstream's error answer into the failure for the client. */
export function decodeError(status: number, body: string): GatewayError {
  const error = parseObject(body)?.error;
  return upstreamFailure({ status, message: isObject(error) ? textOf(error.message) : '', body });
}
