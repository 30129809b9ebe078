/** What whole answers of OpenAI's chat and completions formats have in common: counts and time. */
import type { Usage } from './canonical.ts';
import type { JsonObject } from './fields.ts';

/** `usage` as this format counts; undefined where nothing is known. */
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

/** The time that answers carry as `created`; nothing depends on it. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
