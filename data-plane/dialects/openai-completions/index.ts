/**
 * Legacy text completions: only an inbound half, because any chat upstream can answer them.
 * https://platform.openai.com/docs/api-reference/completions
 */
import type { Inbound } from '../dialect.ts';
import { decodeRequest } from './decode-request.ts';
import { streamEncoder } from './encode-stream.ts';
import { encodeError, encodeStreamError } from './errors.ts';
import { encodeResponse } from './response.ts';

export const openaiCompletions: Inbound = {
  decodeRequest,
  encodeResponse,
  streamEncoder,
  idPrefix: 'cmpl-',
  encodeError,
  encodeStreamError,
  keepAlive: ': keep-alive\n\n',
  losses: {
    reasoning: 'a completion is only text',
    seal: 'a completion is only text',
    media: 'only the transcript of a medium is kept',
    citations: 'a completion is only text',
    native: 'a completion is only text',
    'stop-sequence': 'the finish reason is `stop`, whichever sequence matched',
  },
};
