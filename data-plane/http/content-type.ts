/** Checks the content type of a request against the types that the endpoint takes. */
import { GatewayError } from '@gateway/shared/failures';
import { ENCODINGS, encodingOf } from '../call/compressed.ts';
import type { OpenCall } from '../call/call.ts';
import type { BodyType } from '../endpoints/endpoint.ts';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const FORM_TYPE = /^multipart\/form-data\s*;/i;

const BODY_TYPES: Record<BodyType, { pattern: RegExp; name: string }> = {
  json: { pattern: JSON_TYPE, name: 'application/json' },
  form: { pattern: FORM_TYPE, name: 'multipart/form-data with its boundary' },
  'json-or-form': {
    pattern: new RegExp(`${JSON_TYPE.source}|${FORM_TYPE.source}`, 'i'),
    name: 'application/json or multipart/form-data with its boundary',
  },
};

/**
 * Throws `unsupported_media_type` for a type or an encoding that the endpoint does not take. Forms are read
 * as they arrive, so they must not be compressed.
 */
export function checkContentType({ headers }: OpenCall, body: BodyType | 'any'): void {
  if (body === 'any') return;
  const type = headers['content-type'] ?? '';
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity' && !(JSON_TYPE.test(type) && encodingOf(encoding))) {
    const message = `Send JSON as ${ENCODINGS.join(', ')} or plain, and forms plain.`;
    throw new GatewayError('unsupported_media_type', message);
  }
  if (!BODY_TYPES[body].pattern.test(type)) throw wrongContentType(body);
}

/** The failure that names the content type to send. */
export function wrongContentType(body: BodyType = 'json'): GatewayError {
  const message = `Send the body as Content-Type: ${BODY_TYPES[body].name}.`;
  return new GatewayError('unsupported_media_type', message);
}
