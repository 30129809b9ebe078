/** The parameters of a chat that people can set in the Playground, and which models take them. */
import type { ProtocolName, Trait } from './catalog.ts';
import type { Quirk } from './quirks.ts';

export const CHAT_PARAMETERS = ['temperature', 'max_tokens', 'top_p', 'effort', 'stop', 'seed'] as const;
export type ChatParameter = (typeof CHAT_PARAMETERS)[number];

/** The efforts that people can choose, weakest first. Upstreams get the nearest one that they know. */
export const CHAT_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high'] as const;
export type ChatEffort = (typeof CHAT_EFFORTS)[number];

/** Maximum number of stop sequences, as in OpenAI's format. */
export const STOP_SEQUENCES_MAX = 4;
export const STOP_CHARACTERS_MAX = 200;
export const SYSTEM_PROMPT_CHARACTERS_MAX = 50_000;
/** Largest temperature; some upstreams accept less, and the gateway limits the value for them. */
export const TEMPERATURE_MAX = 2;

/**
 * The member of each upstream format that carries a parameter. The gateway drops a parameter from requests in
 * a format that has no such member.
 */
const MEMBERS: Readonly<Record<ProtocolName, Partial<Record<ChatParameter, string>>>> = {
  'openai-chat': {
    temperature: 'temperature',
    max_tokens: 'max_completion_tokens',
    top_p: 'top_p',
    effort: 'reasoning_effort',
    stop: 'stop',
    seed: 'seed',
  },
  'openai-responses': {
    temperature: 'temperature',
    max_tokens: 'max_output_tokens',
    top_p: 'top_p',
    effort: 'reasoning.effort',
  },
  'anthropic-messages': {
    temperature: 'temperature',
    max_tokens: 'max_tokens',
    top_p: 'top_p',
    effort: 'thinking',
    stop: 'stop_sequences',
  },
  'google-generate': {
    temperature: 'generationConfig.temperature',
    max_tokens: 'generationConfig.maxOutputTokens',
    top_p: 'generationConfig.topP',
    effort: 'generationConfig.thinkingConfig',
    stop: 'generationConfig.stopSequences',
    seed: 'generationConfig.seed',
  },
  'bedrock-converse': {
    temperature: 'inferenceConfig.temperature',
    max_tokens: 'inferenceConfig.maxTokens',
    top_p: 'inferenceConfig.topP',
    effort: 'additionalModelRequestFields',
    stop: 'inferenceConfig.stopSequences',
  },
};

/** A chat route: the formats of its upstream, and the quirks of upstream and route. */
export interface ChatRoute {
  protocols: readonly ProtocolName[];
  quirks: readonly Quirk[];
}

/**
 * The parameters that reach a model on each of its chat routes. An effort needs a model that reasons. Without
 * routes, nothing is known about the upstreams, and all parameters are returned.
 */
export function chatParametersOf(traits: readonly Trait[], routes: readonly ChatRoute[]): ChatParameter[] {
  const reasons = traits.includes('reasoning') || traits.includes('hard_reasoning');
  return CHAT_PARAMETERS.filter(
    (name) => (name !== 'effort' || reasons) && routes.every((route) => reaches(name, route)),
  );
}

/** Whether the upstream of a route gets the parameter from a chat-completions request. */
function reaches(name: ChatParameter, { protocols, quirks }: ChatRoute): boolean {
  // As for chats on a node: the format of the request, else the first one of the upstream.
  const spoken = protocols.includes('openai-chat') ? 'openai-chat' : protocols[0];
  const member = spoken && MEMBERS[spoken][name];
  if (member === undefined) return false;
  return !quirks.some(({ kind, member: dropped }) => kind === 'DROP' && isWithin(member, dropped));
}

/** Whether a member is the other one, or is nested in it. */
function isWithin(member: string, outer: string | null): boolean {
  return member === outer || member.startsWith(`${outer}.`);
}
