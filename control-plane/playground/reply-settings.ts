/** System prompt and parameters of replies in the Playground. Neither is stored. */
import {
  STOP_CHARACTERS_MAX,
  STOP_SEQUENCES_MAX,
  SYSTEM_PROMPT_CHARACTERS_MAX,
  TEMPERATURE_MAX,
} from '@gateway/shared/chat-parameters';
import type { ChatEffort } from '@gateway/shared/chat-parameters';
import { UserFailure } from '../graphql/errors.ts';

/** The settings of a reply; a missing one is left to the model. */
export interface ReplySettings {
  systemPrompt?: string | null;
  /** 0 to 2. */
  temperature?: number | null;
  /** Maximum number of tokens of the reply, at least 1. */
  maxTokens?: number | null;
  /** Above 0, at most 1. */
  topP?: number | null;
  effort?: ChatEffort | null;
  /** Texts that end the reply. */
  stop?: string[] | null;
  seed?: number | null;
}

/** The settings. Throws LIMIT_REACHED for long texts, INVALID for values out of range. */
export function checkReplySettings(settings: ReplySettings): ReplySettings {
  checkSystemPrompt(settings.systemPrompt ?? '');
  checkStop(settings.stop ?? []);
  const { temperature, topP, maxTokens } = settings;
  if (isOutside(temperature, 0, TEMPERATURE_MAX))
    throw new UserFailure('INVALID', `Enter a temperature from 0 to ${TEMPERATURE_MAX}.`, 'temperature');
  if (isOutside(topP, 0, 1) || topP === 0)
    throw new UserFailure('INVALID', 'Enter a top_p above 0 and at most 1.', 'topP');
  if (isOutside(maxTokens, 1, Infinity))
    throw new UserFailure('INVALID', 'Enter a maximum of at least 1 token.', 'maxTokens');
  return settings;
}

/** The members of a chat-completions request that carry the parameters. */
export function parameterMembers({
  temperature,
  maxTokens,
  topP,
  effort,
  stop,
  seed,
}: ReplySettings): object {
  const members = {
    temperature,
    max_completion_tokens: maxTokens,
    top_p: topP,
    reasoning_effort: effort,
    stop: stop?.length ? stop : undefined,
    seed,
  };
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  );
}

function checkSystemPrompt(text: string): void {
  if (text.length > SYSTEM_PROMPT_CHARACTERS_MAX) {
    const message = `Shorten the system prompt to ${SYSTEM_PROMPT_CHARACTERS_MAX} characters.`;
    throw new UserFailure('LIMIT_REACHED', message, 'systemPrompt');
  }
  if (text.includes('\0'))
    throw new UserFailure('INVALID', 'Remove the NUL characters from the system prompt.', 'systemPrompt');
}

function checkStop(sequences: readonly string[]): void {
  if (sequences.length > STOP_SEQUENCES_MAX)
    throw new UserFailure('LIMIT_REACHED', `Enter at most ${STOP_SEQUENCES_MAX} stop sequences.`, 'stop');
  if (sequences.some((text) => text === '' || text.length > STOP_CHARACTERS_MAX || text.includes('\0')))
    throw new UserFailure(
      'INVALID',
      `Enter stop sequences of 1 to ${STOP_CHARACTERS_MAX} characters.`,
      'stop',
    );
}

function isOutside(value: number | null | undefined, min: number, max: number): boolean {
  return value !== null && value !== undefined && !(value >= min && value <= max);
}
