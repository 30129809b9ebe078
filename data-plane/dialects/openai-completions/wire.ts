/** Values of legacy completions. https://platform.openai.com/docs/api-reference/completions */
import type { Block, FinishReason, TokenLogprob } from '../canonical.ts';
import type { JsonObject } from '../fields.ts';

/** Kinds of blocks whose text becomes the completion. */
export const TEXT_KINDS: ReadonlySet<Block['kind']> = new Set(['text', 'refusal', 'media']);

/** Encodes the finish of a choice as `finish_reason`. */
export function writeFinish(finish: FinishReason): string {
  if (finish === 'length') return 'length';
  return finish === 'filter' || finish === 'refusal' ? 'content_filter' : 'stop';
}

/**
 * Encodes log probabilities as four parallel lists; null if there are none. `offset` is the number of
 * characters before the first token, in the completion as the client gets it.
 */
export function writeLogprobs(logprobs: TokenLogprob[], offset: number): JsonObject | null {
  if (logprobs.length === 0) return null;
  let at = offset;
  return {
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(({ top }) =>
      Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: logprobs.map(({ token }) => (at += token.length) - token.length),
  };
}
