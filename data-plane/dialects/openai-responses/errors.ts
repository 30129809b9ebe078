/**
 * Errors in the responses format, which are those of all OpenAI APIs.
 * https://platform.openai.com/docs/guides/error-codes
 */
import type { FailureCode, GatewayError } from '@gateway/shared/failures';
import { isObject, objectOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { writeJsonFrame } from '../sse.ts';
import { upstreamFailure } from '../upstream-errors.ts';
import type { OutputItem, ResponseProgress } from './wire.ts';

/** The `type` that SDKs and people sort errors by; whatever is missing here follows from the status. */
const TYPES: Partial<Record<FailureCode, string>> = {
  invalid_key: 'authentication_error',
  insufficient_funds: 'insufficient_quota',
  spend_limit_reached: 'insufficient_quota',
  not_implemented: 'not_implemented_error',
};

/** The `code`s that clients know under another name than ours. */
const CODES: Partial<Record<FailureCode, string>> = {
  invalid_key: 'invalid_api_key',
  insufficient_funds: 'insufficient_quota',
  spend_limit_reached: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  too_many_concurrent: 'rate_limit_exceeded',
};

/** The body of an error answer; an upstream's own words where they may pass and are of this format. */
export function encodeError(error: GatewayError): unknown {
  return {
    error: nativeError(error) ?? {
      message: error.message,
      type: typeOf(error),
      param: parameterOf(error),
      code: codeOf(error),
    },
  };
}

function nativeError({ details }: GatewayError): JsonObject | undefined {
  const error = parseObject(details.upstream?.body ?? '')?.error;
  return isObject(error) &&
    typeof error.type === 'string' &&
    typeof error.message === 'string' &&
    'param' in error
    ? error
    : undefined;
}

function typeOf({ code, status }: GatewayError): string {
  const type = TYPES[code];
  if (type) return type;
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 503) return 'overloaded_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function codeOf({ code }: GatewayError): string {
  return CODES[code] ?? code;
}

function parameterOf({ details }: GatewayError): string | null {
  return details.parameter?.replace(/^\//, '').replaceAll('/', '.') ?? null;
}

/** The fields of an `error` event. */
export function streamErrorEvent(error: GatewayError): JsonObject {
  return { code: codeOf(error), message: error.message, param: parameterOf(error) };
}

/** What of a `response` object changes when it fails. */
export function failedProgress(error: GatewayError, output: OutputItem[]): ResponseProgress & JsonObject {
  const code = error.status === 429 || error.status === 503 ? 'rate_limit_exceeded' : 'server_error';
  return {
    status: 'failed',
    output,
    error: { code, message: error.message },
    incomplete_details: null,
    usage: null,
  };
}

/** A failed stream's last event where no encoder knows how far the stream had come. */
export function encodeStreamError(error: GatewayError): string {
  return writeJsonFrame({ type: 'error', sequence_number: 0, ...streamErrorEvent(error) }, 'error');
}

/** What an upstream's error answer means to the client. Some providers send `error` as a plain text. */
export function decodeError(status: number, body: string): GatewayError {
  const wire = parseObject(body) ?? {};
  const message =
    textOf(wire.error) || textOf(objectOf(wire.error).message) || textOf(wire.message) || textOf(wire.detail);
  return upstreamFailure({ status, message, body });
}
