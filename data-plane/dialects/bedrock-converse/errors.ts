/** Decodes errors of Bedrock. https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html */
import type { GatewayError } from '@gateway/shared/failures';
import { parseObject, textOf } from '../fields.ts';
import { upstreamFailure } from '../upstream-errors.ts';

/** Turns an upstream's error answer, `{"message"}`, into the failure for the client. */
export function decodeError(status: number, body: string): GatewayError {
  const error = parseObject(body);
  // Some errors of the front end have a capital letter.
  const message = textOf(error?.message) || textOf(error?.Message);
  return upstreamFailure({ status, message, body });
}
