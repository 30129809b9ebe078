/** Whole answers of every upstream format: decoded and encoded for every client, or a failure. */
import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '@gateway/shared/failures';
import { collect, replay } from '../../../data-plane/dialects/answer.ts';
import type { ChatResponse } from '../../../data-plane/dialects/canonical.ts';
import type { Inbound } from '../../../data-plane/dialects/dialect.ts';
import { INBOUND, REQUEST, letterOfUpstream, upstreamOf } from '../clients.ts';
import { recordedAnswers } from '../recorded.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

export const target: FuzzTarget = {
  run(input) {
    const { outbound } = upstreamOf(input);
    const text = input.toString('utf8', 1);
    const error = outbound.decodeError(500, text);
    demand(error instanceof GatewayError, 'an error answer is no failure');
    const response = decoded(() => outbound.decodeResponse(JSON.parse(text)));
    for (const inbound of Object.values(INBOUND)) {
      JSON.stringify(inbound.encodeError(error));
      if (response) encode(inbound, response);
    }
    if (response && response.choices.length > 0)
      demand(isDeepStrictEqual(collect(replay(response)), response), 'a replayed answer differs');
  },
  seeds: [
    letterOfUpstream('openai-chat') +
      JSON.stringify({
        id: 'i',
        model: 'm',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: 'a',
              tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
            },
          },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      }),
    letterOfUpstream('openai-responses') +
      JSON.stringify({
        id: 'r',
        status: 'completed',
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'b' }] },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        ],
        usage: { input_tokens: 1, output_tokens: 2 },
      }),
    letterOfUpstream('anthropic-messages') +
      JSON.stringify({
        id: 'm',
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'b', signature: 's' },
          { type: 'text', text: 'a' },
          { type: 'tool_use', id: 'c', name: 'f', input: {} },
        ],
        stop_reason: 'tool_use',
        usage: { input_tokens: 1, output_tokens: 2 },
      }),
    letterOfUpstream('google-generate') +
      JSON.stringify({
        candidates: [
          {
            content: { role: 'model', parts: [{ text: 'a' }, { functionCall: { name: 'f', args: {} } }] },
            finishReason: 'STOP',
          },
        ],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
      }),
    letterOfUpstream('bedrock-converse') +
      JSON.stringify({
        output: {
          message: {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'b', signature: 's' } } },
              { text: 'a' },
              { toolUse: { toolUseId: 'c', name: 'f', input: {} } },
            ],
          },
        },
        stopReason: 'tool_use',
        usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      }),
    `${letterOfUpstream('openai-chat')}{"error":{"message":"m","type":"t","code":"c","param":null}}`,
  ],
  recorded: recordedAnswers,
};

/** Compaction fails if the answer holds no summary. */
function encode(inbound: Inbound, response: ChatResponse): void {
  try {
    JSON.stringify(inbound.encodeResponse(response, REQUEST));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** An answer that is no JSON is a failure, too. */
function decoded(decode: () => ChatResponse): ChatResponse | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof GatewayError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
