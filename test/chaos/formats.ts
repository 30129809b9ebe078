/** The same question in the four chat formats; the upstream speaks one of them, so three are translated. */

export interface ChatFormat {
  path(streamed: boolean): string;
  body(streamed: boolean): object;
  /** Stands in a stream once some content is there, and once the whole answer is. */
  content: string;
  end: string;
}

const MODEL = 'budget';
const QUESTION = 'Hi';
const messages = [{ role: 'user', content: QUESTION }];

/** Every format clients may speak. */
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
    body: (stream) => ({ model: MODEL, stream, input: QUESTION }),
    content: '"delta":"word',
    end: 'event: response.completed',
  },
  {
    path: (streamed) =>
      `/v1beta/models/${MODEL}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: QUESTION }] }] }),
    content: '"text":"word',
    end: '"finishReason"',
  },
];
