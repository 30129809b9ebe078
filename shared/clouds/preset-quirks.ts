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

/** The member that switches reasoning, with its values as JSON. */
function reasoning(member: string, on: string, off: string): Quirk[] {
  return [
    { ...NONE, kind: 'REASONING_ON', member, value: on },
    { ...NONE, kind: 'REASONING_OFF', member, value: off },
  ];
}

const THINKING = reasoning('thinking', '{"type":"enabled"}', '{"type":"disabled"}');

/** The quirks by the id of the preset. Of the other providers none is known. */
export const PRESET_QUIRKS: Readonly<Record<string, KnownQuirks>> = {
  xai: {
    quirks: dropped('presence_penalty', 'frequency_penalty', 'stop'),
    quirksSource: 'https://docs.x.ai/docs/guides/reasoning',
  },
  deepseek: { quirks: THINKING, quirksSource: 'https://api-docs.deepseek.com/guides/thinking_mode' },
  mistral: {
    quirks: [renamed('max_completion_tokens', 'max_tokens'), renamed('seed', 'random_seed')],
    quirksSource: 'https://docs.mistral.ai/api/',
  },
  groq: {
    quirks: dropped('logprobs', 'top_logprobs', 'logit_bias'),
    quirksSource: 'https://console.groq.com/docs/openai',
  },
  cerebras: {
    quirks: dropped('frequency_penalty', 'presence_penalty', 'logit_bias'),
    quirksSource: 'https://inference-docs.cerebras.ai/resources/openai',
  },
  moonshot: {
    quirks: dropped('temperature', 'top_p', 'presence_penalty', 'frequency_penalty'),
    quirksSource: 'https://platform.kimi.ai/docs/api/models-overview',
  },
  zai: {
    quirks: [clamped('temperature', 0, 1), ...THINKING],
    quirksSource: 'https://docs.z.ai/api-reference/llm/chat-completion',
  },
  alibaba: {
    quirks: reasoning('enable_thinking', 'true', 'false'),
    quirksSource: 'https://www.alibabacloud.com/help/en/model-studio/deep-thinking',
  },
  siliconflow: {
    quirks: reasoning('enable_thinking', 'true', 'false'),
    quirksSource: 'https://docs.siliconflow.cn/en/api-reference/chat-completions/chat-completions',
  },
  cohere: {
    quirks: dropped(
      ...['stream_options', 'parallel_tool_calls', 'logit_bias', 'top_logprobs', 'service_tier', 'metadata'],
      ...['modalities', 'audio', 'prediction'],
    ),
    quirksSource: 'https://docs.cohere.com/docs/compatibility-api',
  },
  minimax: {
    quirks: [clamped('temperature', 0.01, 1)],
    quirksSource: 'https://platform.minimax.io/docs/api-reference/text-openai-api',
  },
};
