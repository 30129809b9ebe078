/** Encodes answers of legacy completions that are not streamed. */
import type { ChatRequest, ChatResponse } from '../canonical.ts';
import type { JsonObject } from '../fields.ts';
import { nowSeconds, writeUsage } from '../openai-answers.ts';
import { TEXT_KINDS, writeFinish, writeLogprobs } from './wire.ts';

/**
 * Encodes an answer as a `text_completion` object. If the client requested an echo, texts begin with the
 * prompt.
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
      const { echo = '' } = request.shape;
      return {
        text: echo + textBlocks.map((block) => block.text).join(''),
        index,
        logprobs: writeLogprobs(
          textBlocks.flatMap(({ logprobs }) => logprobs ?? []),
          echo.length,
        ),
        finish_reason: writeFinish(finish),
      };
    }),
    ...(usage ? { usage } : {}),
  };
}
