/**
 * Legacy text completions: an inbound half alone, over any chat upstream.
 * https://platform.openai.com/docs/api-reference/completions
 */
import type { Inbound } from '../dialect.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { decodeRequest } from './request.ts';
import { encodeResponse, encodeStreamError, streamEncoder } from './response.ts';

export const openaiCompletions: Inbound = {
  decodeRequest,
  encodeResponse,
  streamEncoder,
  encodeStreamError,
  encodeError: encodeOpenAiError,
  keepAlive: ': keep-alive\n\n',
  losses: {
    reasoning: 'a completion is text alone',
    seal: 'a completion is text alone',
    media: 'of a medium its transcript remains',
    citations: 'a completion is text alone',
    native: 'a completion is text alone',
    'stop-sequence': 'the finish reason is `stop`, whichever sequence matched',
  },
};
