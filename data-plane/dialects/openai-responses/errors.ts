/** Errors of the responses format: inside streams, and those of upstreams. */
import type { GatewayError } from '@gateway/shared/failures';
import { objectOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { writeJsonFrame } from '../sse.ts';
import { upstreamFailure } from '../upstream-errors.ts';
import type { OutputItem, ResponseProgress } from './wire.ts';

/**
 * Numbers of the events that end a stream whose own count is unknown. They are beyond any that came before,
 * and fit into the 32 bits of clients that are strict about integers.
 */
const LAST_SEQUENCE_NUMBERS = { error: 2_147_483_646, failed: 2_147_483_647 };

/** The fields of an `error` event. */
export function streamErrorEvent(error: GatewayError): JsonObject {
  const { code, param } = objectOf(encodeOpenAiError(error).error);
  return { code, message: error.message, param };
}

/** What of a `response` object changes when it fails. Codex reads its code: some it takes for final. */
export function failedProgress(error: GatewayError, output: OutputItem[]): ResponseProgress & JsonObject {
  const code = WORDS[error.status] ?? 'server_error';
  return {
    status: 'failed',
    output,
    error: { code, message: error.message },
    incomplete_details: null,
    usage: null,
  };
}

const WORDS: Record<number, string> = {
  402: 'insufficient_quota',
  429: 'rate_limit_exceeded',
  503: 'server_is_overloaded',
};

/**
 * The end of a failed stream, where nobody knows how far it had come: the `error` event that SDKs throw on,
 * and `response.failed`, without which Codex only says that the stream was closed.
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

/** What an upstream's error answer means to the client. Some providers send `error` as a plain text. */
export function decodeError(status: number, body: string): GatewayError {
  const wire = parseObject(body) ?? {};
  const message =
    textOf(wire.error) || textOf(objectOf(wire.error).message) || textOf(wire.message) || textOf(wire.detail);
  return upstreamFailure({ status, message, body });
}
