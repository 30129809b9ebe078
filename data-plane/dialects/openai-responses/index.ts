/** The responses dialect: what Codex, the OpenAI SDK and the AI SDK speak. */
import type { ChatRequest } from '../canonical.ts';
import type { Dialect, StreamEncoder } from '../dialect.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { decodeError, encodeStreamError } from './errors.ts';
import { decodeRequest, encodeRequest } from './request.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { ResponsesStreamEncoder } from './stream-encoder.ts';
import { ResponsesStreamDecoder } from './stream.ts';
import { CompactionEncoder } from './summary.ts';

export const openaiResponses: Dialect = {
  name: 'openai-responses',
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder,
    encodeError: encodeOpenAiError,
    encodeStreamError,
    keepAlive: ': keep-alive\n\n',
    losses: {
      choices: 'an answer is one list of items: further choices have no place',
      native: "items of another format's server-side tools have no counterpart",
      'stop-sequence': 'the format does not say which stop sequence ended the answer',
    },
  },
  outbound: {
    encodeRequest,
    pathFor: () => '/responses',
    authorize: (secret) => ({ authorization: `Bearer ${secret}` }),
    decodeResponse,
    streamDecoder: () => new ResponsesStreamDecoder(),
    decodeError,
  },
};

function streamEncoder(request: ChatRequest): StreamEncoder {
  const encoder = new ResponsesStreamEncoder(request);
  return request.shape.compaction ? new CompactionEncoder(encoder) : encoder;
}
