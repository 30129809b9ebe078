/** The dialect of Google's generative language format. https://ai.google.dev/api/generate-content */
import type { Dialect } from '../dialect.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { streamEncoder } from './encode-stream.ts';
import { encodeRequest, pathFor } from './encode-request.ts';
import { streamDecoder } from './decode-stream.ts';
import { MIRROR } from './members.ts';
import { NAME } from './wire.ts';

export const googleGenerate: Dialect = {
  name: NAME,
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder,
    idPrefix: '',
    encodeError,
    encodeStreamError,
    keepAlive: ': keep-alive\n\n',
    losses: {
      refusal: 'a refusal becomes text with the finish reason SAFETY',
      native: 'the format has no blocks for server-side tools of other providers',
      'stop-sequence': 'the finish reason is STOP, whichever sequence matched',
      'custom-call': 'a free-text tool call becomes a function call with the text as its argument',
    },
    mirror: MIRROR,
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
