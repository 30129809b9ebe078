/** The dialect of Anthropic's messages format. https://platform.claude.com/docs/en/api/messages */
import type { Dialect } from '../dialect.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeResponse, encodeResponse } from './response.ts';
import { streamEncoder } from './encode-stream.ts';
import { PATH, encodeRequest } from './encode-request.ts';
import { streamDecoder } from './decode-stream.ts';
import { MIRROR } from './members.ts';
import { NAME } from './wire.ts';

export const anthropicMessages: Dialect = {
  name: NAME,
  inbound: {
    decodeRequest,
    encodeResponse,
    streamEncoder,
    idPrefix: 'msg_',
    encodeError,
    encodeStreamError,
    keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
    losses: {
      choices: 'a message is a single output: further choices are dropped',
      logprobs: 'the format has no log probabilities',
      media: 'an answer holds text, thinking and tool calls: only the transcript of a medium is kept',
      native: 'the format has no blocks for server-side tools of other providers',
    },
    mirror: MIRROR,
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
