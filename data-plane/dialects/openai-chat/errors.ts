/** Errors of the chat completions format: in streams, and those of upstreams. */
import type { GatewayError } from '@gateway/shared/failures';
import { isObject, parseObject, textOf } from '../fields.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { upstreamFailure } from '../upstream-errors.ts';

/**
 * The last frame of a stream that failed. No `[DONE]` follows: official SDKs throw on a chunk with `error`.
 */
export function encodeStreamError(error: GatewayError): string {
  return `data: ${JSON.stringify(encodeOpenAiError(error))}\n\n`;
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
