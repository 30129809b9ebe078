/** The messages format of Anthropic. https://platform.claude.com/docs/en/api/messages */
import type { Dialect } from '../dialect.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { decodeRequest } from './request.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { streamEncoder } from './stream.ts';
import { PATH, encodeRequest } from './upstream-request.ts';
import { streamDecoder } from './upstream-stream.ts';
import { NAME } from './wire.ts';

export const anthropicMessages: Dialect = {
  name: NAME,
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder,
    encodeError,
    encodeStreamError,
    keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
    losses: {
      choices: 'a message is one answer: further choices are left out',
      logprobs: 'there is no place for log probabilities',
      media: 'an answer holds text, thinking and calls: of a medium its transcript remains',
      native: 'there is no place for blocks of another provider’s server-side tools',
    },
  },
  outbound: {
    encodeRequest,
    decodeResponse,
    streamDecoder,
    decodeError,
    pathFor: () => PATH,
    authorize: (secret) => ({ 'x-api-key': secret }),
  },
};
