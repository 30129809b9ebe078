/**
 * The same request in the four chat formats. The upstream has one of them, so the gateway translates three.
 */

export interface ChatFormat {
  path(streamed: boolean): string;
  body(streamed: boolean): object;
  /** Text that a stream contains once some content has arrived. */
  content: string;
  /** Text that a stream contains once the answer is complete. */
  end: string;
}

const MODEL = 'budget';
const PROMPT = 'Hi';
const messages = [{ role: 'user', content: PROMPT }];

/** All formats of clients. */
export const FORMATS: readonly [ChatFormat, ...ChatFormat[]] = [
  {
    path: () => '/v1/chat/completions',
    body: (stream) => ({ model: MODEL, stream, messages }),
    content: '"content":"word',
    end: 'data: [DONE]',
  },
  {
    path: () => '/v1/messages',
    body: (stream) => ({ model: MODEL, stream, max_tokens: 100, messages }),
    content: '"text":"word',
    end: 'event: message_stop',
  },
  {
    path: () => '/v1/responses',
    body: (stream) => ({ model: MODEL, stream, input: PROMPT }),
    content: '"delta":"word',
    end: 'event: response.completed',
  },
  {
    path: (streamed) =>
      `/v1beta/models/${MODEL}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: PROMPT }] }] }),
    content: '"text":"word',
    end: '"finishReason"',
  },
];
