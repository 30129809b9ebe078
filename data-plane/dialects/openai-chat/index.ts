/**
 * The chat completions format of OpenAI and of everybody who copied it.
 * https://platform.openai.com/docs/api-reference/chat
 */
import type { Dialect } from '../dialect.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { decodeError, encodeStreamError } from './errors.ts';
import { decodeRequest } from './request.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { streamEncoder } from './stream.ts';
import { PATH, encodeRequest } from './upstream-request.ts';
import { streamDecoder } from './upstream-stream.ts';
import { NAME } from './wire.ts';

export const openaiChat: Dialect = {
  name: NAME,
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder,
    encodeStreamError,
    encodeError: encodeOpenAiError,
    keepAlive: ': keep-alive\n\n',
    losses: {
      native: 'there is no place for blocks of another provider’s server-side tools',
      'stop-sequence': 'the finish reason is `stop`, whichever sequence matched',
    },
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
