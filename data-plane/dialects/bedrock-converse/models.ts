/** How the models behind Converse differ. The format has separate members for these differences. */
import type { ChatRequest, Effort } from '../canonical.ts';
import { budgetOf, effortOf, isReasoningWanted } from '../effort.ts';
import type { JsonObject } from '../fields.ts';

/** The smallest thinking budget that Claude accepts, in tokens. */
const BUDGET_MIN = 1024;
/** The budget of requests that leave it to the model, in tokens. */
const BUDGET_DEFAULT = 8192;
/** Part of `maxTokens` that thinking gets if the requested budget leaves no room for the answer. */
const BUDGET_SHARE = 0.75;
const EFFORTS: readonly Effort[] = ['low', 'medium', 'high'];

/** The members that only some models know. */
export interface ModelFamily {
  /**
   * Where prompts may be marked as cached.
   * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
   */
  cachePoints: 'everywhere' | 'messages' | 'nowhere';
  /** `additionalModelRequestFields` for `top_k`; undefined if the model has none. */
  topK?(topK: number): JsonObject;
  /** `additionalModelRequestFields` for the wanted reasoning; undefined if this request cannot have it. */
  reasoning?(request: ChatRequest): JsonObject | undefined;
  /** `additionalModelResponseFieldPaths`: further members that the answer should have. */
  responsePaths?: readonly string[];
  /** Whether reasoning excludes temperature, `top_p` and forced tool calls. */
  isStrictWithReasoning?: boolean;
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html */
const CLAUDE: ModelFamily = {
  cachePoints: 'everywhere',
  topK: (topK) => ({ top_k: topK }),
  reasoning: (request) => claudeThinking(request),
  responsePaths: ['/stop_sequence'],
  isStrictWithReasoning: true,
};

/** https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html */
const NOVA: ModelFamily = { cachePoints: 'messages', topK: (topK) => ({ inferenceConfig: { topK } }) };
const NOVA_2: ModelFamily = {
  ...NOVA,
  reasoning: ({ reasoning }) => ({
    reasoningConfig: isReasoningWanted(reasoning)
      ? { type: 'enabled', maxReasoningEffort: (reasoning && effortOf(reasoning, EFFORTS)) ?? 'medium' }
      : { type: 'disabled' },
  }),
};

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html */
const GPT_OSS: ModelFamily = {
  cachePoints: 'nowhere',
  reasoning: ({ reasoning }) => {
    const effort = isReasoningWanted(reasoning) && reasoning && effortOf(reasoning, EFFORTS);
    return effort ? { reasoning_effort: effort } : undefined;
  },
};

const OTHERS: ModelFamily = { cachePoints: 'nowhere' };

/** Inference profiles put a region before the name. */
const FAMILIES: readonly (readonly [RegExp, ModelFamily])[] = [
  [/anthropic\.claude/, CLAUDE],
  [/amazon\.nova-2/, NOVA_2],
  [/amazon\.nova/, NOVA],
  [/openai\.gpt-oss/, GPT_OSS],
];

/** The family of a model id or the ARN of a profile. An ARN without the model's name is of no family. */
export function familyOf(model: string): ModelFamily {
  return FAMILIES.find(([pattern]) => pattern.test(model))?.[1] ?? OTHERS;
}

function claudeThinking({ reasoning, maxOutputTokens }: ChatRequest): JsonObject | undefined {
  if (!reasoning || !isReasoningWanted(reasoning)) return { thinking: { type: 'disabled' } };
  const requested = Math.max(BUDGET_MIN, budgetOf(reasoning) ?? BUDGET_DEFAULT);
  const isRoomLeft = maxOutputTokens === undefined || requested < maxOutputTokens;
  const budget = isRoomLeft ? requested : Math.floor(maxOutputTokens * BUDGET_SHARE);
  return budget < BUDGET_MIN ? undefined : { thinking: { type: 'enabled', budget_tokens: budget } };
}
