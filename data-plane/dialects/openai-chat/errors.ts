/** Encodes and decodes errors of chat completions. */
import type { GatewayError } from '@gateway/shared/failures';
import { isObject, parseObject, textOf } from '../fields.ts';
import { upstreamFailure } from '../upstream-errors.ts';

export {
  encodeOpenAiError as encodeError,
  encodeOpenAiStreamError as encodeStreamError,
} from '../openai-errors.ts';

/** Turns an upstream's error answer into the failure for the client. */
export function decodeError(status: number, body: string): GatewayError {
  return upstreamFailure({ status, message: messageIn(body), body });
}

/** The error message, in any of the places where compatible providers put it. */
function messageIn(body: string): string {
  const parsed = parseObject(body);
  if (!parsed) return '';
  const { error, message, detail } = parsed;
  if (isObject(error)) return textOf(error.message);
  return textOf(error) || textOf(message) || textOf(detail);
}
