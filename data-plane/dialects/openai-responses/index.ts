/** The dialect of OpenAI's responses format, which Codex, the OpenAI SDK and the AI SDK speak. */
import type { ChatRequest } from '../canonical.ts';
import type { Dialect, StreamEncoder } from '../dialect.ts';
import { CompactionEncoder } from './compaction.ts';
import { decodeRequest } from './decode-request.ts';
import { streamDecoder } from './decode-stream.ts';
import { PATH, encodeRequest } from './encode-request.ts';
import { streamEncoder } from './encode-stream.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { MIRROR } from './members.ts';
import { NAME } from './wire.ts';

export const openaiResponses: Dialect = {
  name: NAME,
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder: answerEncoder,
    idPrefix: 'resp_',
    encodeError,
    encodeStreamError,
    keepAlive: ': keep-alive\n\n',
    losses: {
      choices: 'an answer is a single list of items: further choices are dropped',
      native: 'the format has no blocks for server-side tools of other providers',
      'stop-sequence': 'the format does not say which stop sequence ended the answer',
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

function answerEncoder(request: ChatRequest): StreamEncoder {
  const encoder = streamEncoder(request);
  return request.shape.compaction ? new CompactionEncoder(encoder) : encoder;
}
