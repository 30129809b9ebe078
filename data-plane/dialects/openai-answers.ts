/** Parts of answers that several OpenAI formats share: token counts, log probabilities and creation time. */
import type { TokenLogprob, Usage } from './canonical.ts';
import { numberOf, objectsOf, textOf } from './fields.ts';
import type { JsonObject } from './fields.ts';

/** Encodes `usage` of chat and completions; undefined if no count is known. */
export function writeUsage({ tokens, counters }: Usage): JsonObject | undefined {
  if (tokens.input === null && tokens.output === null) return undefined;
  const input = tokens.input ?? 0;
  const output = tokens.output ?? 0;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: tokens.cached ?? 0,
      audio_tokens: counters?.inputAudio ?? 0,
      ...(counters?.cacheWrite === undefined ? {} : { cache_write_tokens: counters.cacheWrite }),
    },
    completion_tokens_details: {
      reasoning_tokens: tokens.reasoning ?? 0,
      audio_tokens: counters?.outputAudio ?? 0,
    },
  };
}

/** The creation time of answers (`created`, `created_at`) in seconds since the epoch. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** Decodes a list of tokens with their log probabilities; undefined if it is empty or no list. */
export function readTokenLogprobs(value: unknown): TokenLogprob[] | undefined {
  const list = objectsOf(value).map((entry) => ({
    ...readToken(entry),
    top: objectsOf(entry.top_logprobs).map(readToken),
  }));
  return list.length > 0 ? list : undefined;
}

function readToken({ token, logprob, bytes }: JsonObject): Omit<TokenLogprob, 'top'> {
  const list = Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === 'number') : undefined;
  return { token: textOf(token), logprob: numberOf(logprob) ?? 0, ...(list ? { bytes: list } : {}) };
}
