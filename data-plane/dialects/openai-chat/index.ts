/**
 * The dialect of chat completions, as OpenAI and compatible providers speak it.
 * https://platform.openai.com/docs/api-reference/chat
 */
import type { Dialect } from '../dialect.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { streamEncoder } from './encode-stream.ts';
import { PATH, encodeRequest } from './encode-request.ts';
import { streamDecoder } from './decode-stream.ts';
import { MIRROR } from './members.ts';
import { NAME } from './wire.ts';

export const openaiChat: Dialect = {
  name: NAME,
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder,
    idPrefix: 'chatcmpl-',
    encodeError,
    encodeStreamError,
    keepAlive: ': keep-alive\n\n',
    losses: {
      native: 'the format has no blocks for server-side tools of other providers',
      'stop-sequence': 'the finish reason is `stop`, whichever sequence matched',
    },
    mirror: MIRROR,
  },
  outbound: {
    encodeRequest,
    decodeResponse,
    streamDecoder,
    decodeError,
    pathFor: () => PATH,
    authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
  },
};
