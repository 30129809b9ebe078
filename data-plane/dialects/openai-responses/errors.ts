/** Encodes and decodes errors of the responses format. */
import type { GatewayError } from '@gateway/shared/failures';
import { objectOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { writeJsonFrame } from '../sse.ts';
import { upstreamFailure } from '../upstream-errors.ts';
import type { OutputItem, ResponseProgress } from './wire.ts';

export { encodeOpenAiError as encodeError } from '../openai-errors.ts';

/**
 * Sequence numbers of the last events of a stream whose count is unknown. They exceed all earlier numbers
 * and fit into 32 bits, as strict clients require.
 */
const LAST_SEQUENCE_NUMBERS = { error: 2_147_483_646, failed: 2_147_483_647 };

/** Encodes the fields of an `error` event. */
export function streamErrorEvent(error: GatewayError): JsonObject {
  const { code, param } = objectOf(encodeOpenAiError(error).error);
  return { code, message: error.message, param };
}

/** Encodes the fields of a failed `response` object that changed. Codex does not retry some of the codes. */
export function failedProgress(error: GatewayError, output: OutputItem[]): ResponseProgress & JsonObject {
  const code = CODES[error.status] ?? 'server_error';
  return {
    status: 'failed',
    output,
    error: { code, message: error.message },
    incomplete_details: null,
    usage: null,
  };
}

const CODES: Record<number, string> = {
  402: 'insufficient_quota',
  429: 'rate_limit_exceeded',
  503: 'server_is_overloaded',
};

/**
 * Encodes the end of a failed stream, without knowledge of its earlier events: the `error` event, on which
 * SDKs throw, and `response.failed`, without which Codex only reports a closed stream.
 */
export function encodeStreamError(error: GatewayError): string {
  const { error: first, failed } = LAST_SEQUENCE_NUMBERS;
  const event = { type: 'error', sequence_number: first, ...streamErrorEvent(error) };
  const response = { id: '', object: 'response', ...failedProgress(error, []) };
  return (
    writeJsonFrame(event, event.type) +
    writeJsonFrame({ type: 'response.failed', sequence_number: failed, response }, 'response.failed')
  );
}

/**
 * Turns an upstream's error answer into the failure for the client. Some providers send `error` as a string.
 */
export function decodeError(status: number, body: string): GatewayError {
  const wire = parseObject(body) ?? {};
  const message =
    textOf(wire.error) || textOf(objectOf(wire.error).message) || textOf(wire.message) || textOf(wire.detail);
  return upstreamFailure({ status, message, body });
}
