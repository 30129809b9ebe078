/**
 * Bedrock's Converse format, which only upstreams speak: one format for all its models, Claude or not.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import type { UpstreamDialect } from '../dialect.ts';
import { streamDecoder } from './decode-stream.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeError } from './errors.ts';
import { decodeResponse } from './response.ts';
import { NAME, pathFor } from './wire.ts';

export const bedrockConverse: UpstreamDialect = {
  name: NAME,
  outbound: {
    encodeRequest,
    decodeResponse,
    streamDecoder,
    decodeError,
    pathFor,
    // https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html
    authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
  },
};
