/** The generative language format of Google. https://ai.google.dev/api/generate-content */
import type { Dialect } from '../dialect.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { decodeRequest } from './request.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { streamEncoder } from './stream.ts';
import { encodeRequest, pathFor } from './upstream-request.ts';
import { streamDecoder } from './upstream-stream.ts';
import { NAME } from './wire.ts';

export const googleGenerate: Dialect = {
  name: NAME,
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder,
    encodeError,
    encodeStreamError,
    keepAlive: ': keep-alive\n\n',
    losses: {
      refusal: 'a refusal is ordinary text with the finish reason SAFETY',
      native: 'there is no place for blocks of another provider’s server-side tools',
      'stop-sequence': 'the finish reason is STOP, whichever sequence matched',
      'custom-call': 'a free-text call goes as a function call with the text as its argument',
    },
  },
  outbound: {
    encodeRequest,
    decodeResponse,
    streamDecoder,
    decodeError,
    pathFor,
    authorize: (secret) => ({ 'x-goog-api-key': secret }),
  },
};
