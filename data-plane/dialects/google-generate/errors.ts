/**
 * Encodes and decodes errors of the generative language format. https://cloud.google.com/apis/design/errors
 */
import type { GatewayError } from '@gateway/shared/failures';
import { isObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { upstreamFailure } from '../upstream-errors.ts';

const STATUSES: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Encodes the body of an error answer: `{error: {code, message, status}}`. */
export function encodeError({ status, message }: GatewayError): JsonObject {
  return {
    error: {
      code: status,
      message,
      status: STATUSES[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT'),
    },
  };
}

/**
 * Encodes the end of a failed stream: a bare JSON chunk, without which the js-genai SDK ignores the error,
 * then the same error as an event for clients that only read events.
 */
export function encodeStreamError(error: GatewayError): string {
  const json = JSON.stringify(encodeError(error));
  return `${json}\r\n\r\ndata: ${json}\r\n\r\n`;
}

/**
 * Turns an upstream's error answer into the failure for the client. Without `alt=sse` the error is in a
 * list.
 */
export function decodeError(status: number, body: string): GatewayError {
  return upstreamFailure({ status, message: textOf(errorIn(body).message), body });
}

function errorIn(body: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(body);
    const holder: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isObject(holder) && isObject(holder.error) ? holder.error : {};
  } catch {
    return {};
  }
}
