/** Known quirks of the providers in the presets, each with the page of the provider that says so. */
import type { Quirk } from '../quirks.ts';

interface KnownQuirks {
  quirks: readonly Quirk[];
  quirksSource: string;
}

const NONE: Omit<Quirk, 'kind'> = { member: null, other: null, value: null, min: null, max: null };

function dropped(...members: readonly string[]): Quirk[] {
  return members.map((member) => ({ ...NONE, kind: 'DROP', member }));
}

function renamed(member: string, other: string): Quirk {
  return { ...NONE, kind: 'RENAME', member, other };
}

function clamped(member: string, min: number, max: number): Quirk {
  return { ...NONE, kind: 'CLAMP', member, min, max };
}

/** One text in place of another. */
function replaced(member: string, other: string, value: string): Quirk {
  return { ...NONE, kind: 'REPLACE', member, other: JSON.stringify(other), value: JSON.stringify(value) };
}

/** The member that switches reasoning, with its values as JSON. */
function reasoning(member: string, on: string, off: string): Quirk[] {
  return [
    { ...NONE, kind: 'REASONING_ON', member, value: on },
    { ...NONE, kind: 'REASONING_OFF', member, value: off },
  ];
}

const THINKING = reasoning('thinking', '{"type":"enabled"}', '{"type":"disabled"}');

/**
 * The quirks by the id of the preset. Each row is on the page of its source as read in November 2026. A
 * provider without a page about its differences has no rows: operators add what they meet.
 */
export const PRESET_QUIRKS: Readonly<Record<string, KnownQuirks>> = {
  // "not supported by reasoning models. Adding them in the request would result in an error".
  xai: {
    quirks: dropped('presence_penalty', 'frequency_penalty', 'stop'),
    quirksSource: 'https://docs.x.ai/docs/guides/reasoning',
  },
  deepseek: { quirks: THINKING, quirksSource: 'https://api-docs.deepseek.com/guides/thinking_mode' },
  // The only names of these members, also in the provider's own SDK (mistralai 3.7.0).
  mistral: {
    quirks: [renamed('max_completion_tokens', 'max_tokens'), renamed('seed', 'random_seed')],
    quirksSource: 'https://docs.mistral.ai/api/',
  },
  // Each of them is answered with 400.
  groq: {
    quirks: dropped('logprobs', 'top_logprobs', 'logit_bias'),
    quirksSource: 'https://console.groq.com/docs/openai',
  },
  // For kimi-k2.6: "Cannot be modified", by the parameter comparison of the page.
  moonshot: {
    quirks: dropped('temperature', 'top_p', 'presence_penalty', 'frequency_penalty'),
    quirksSource: 'https://platform.kimi.ai/docs/api/models-overview',
  },
  zai: {
    quirks: [
      renamed('max_completion_tokens', 'max_tokens'),
      clamped('temperature', 0, 1),
      clamped('top_p', 0.01, 1),
      ...THINKING,
    ],
    quirksSource: 'https://docs.z.ai/api-reference/llm/chat-completion',
  },
  alibaba: {
    quirks: reasoning('enable_thinking', 'true', 'false'),
    quirksSource: 'https://www.alibabacloud.com/help/en/model-studio/deep-thinking',
  },
  siliconflow: {
    quirks: reasoning('enable_thinking', 'true', 'false'),
    quirksSource: 'https://docs.siliconflow.cn/cn/api-reference/chat-completions/chat-completions',
  },
  // The page lists the supported members, the unsupported ones, and two efforts.
  cohere: {
    quirks: [
      ...dropped(
        ...['stream_options', 'parallel_tool_calls', 'logit_bias', 'top_logprobs', 'service_tier'],
        ...['metadata', 'modalities', 'audio', 'prediction'],
      ),
      renamed('max_completion_tokens', 'max_tokens'),
      ...['low', 'medium'].map((effort) => replaced('reasoning_effort', effort, 'high')),
    ],
    quirksSource: 'https://docs.cohere.com/docs/compatibility-api',
  },
  // "Value range (0, 1]" of both.
  minimax: {
    quirks: [clamped('temperature', 0.01, 1), clamped('top_p', 0.01, 1)],
    quirksSource: 'https://platform.minimax.io/docs/api-reference/text-chat',
  },
};
