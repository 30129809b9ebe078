/** Encodes whole answers of legacy completions. */
import type { ChatRequest, ChatResponse } from '../canonical.ts';
import type { JsonObject } from '../fields.ts';
import { nowSeconds, writeUsage } from '../openai-answers.ts';
import { TEXT_KINDS, writeFinish, writeLogprobs } from './wire.ts';

/**
 * Encodes an answer as a `text_completion` object. The prompt comes first if the client requested an echo.
 */
export function encodeResponse(response: ChatResponse, request: ChatRequest): JsonObject {
  const usage = writeUsage(response);
  return {
    id: response.id || 'cmpl-0',
    object: 'text_completion',
    created: nowSeconds(),
    model: response.model || request.model,
    choices: response.choices.map(({ blocks, finish }, index) => {
      const textBlocks = blocks.filter(({ kind }) => TEXT_KINDS.has(kind));
      const text = (request.shape.echo ?? '') + textBlocks.map((block) => block.text).join('');
      return {
        text,
        index,
        logprobs: writeLogprobs(textBlocks.flatMap(({ logprobs }) => logprobs ?? [])),
        finish_reason: writeFinish(finish),
      };
    }),
    ...(usage ? { usage } : {}),
  };
}
