/** Encodes requests for upstreams of the messages format. */
import type { ChatRequest, Effort, ScalarName, Tool } from '../canonical.ts';
import { wrapCustomTool } from '../custom-tools.ts';
import type { UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { budgetOf, effortOf, isReasoningWanted } from '../effort.ts';
import { isObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { strictSchema } from './schema.ts';
import { writeCacheControl, writeMessages } from './encode-messages.ts';
import { NAME, REQUEST_TIERS, defaultMaxTokens, thinksAdaptively, writeToolChoice } from './wire.ts';

/** Path of the endpoint, relative to the upstream's base URL. */
export const PATH = '/messages';
const VERSION = '2023-06-01';
/** The smallest accepted thinking budget, in tokens. */
const BUDGET_MIN = 1024;
/** Part of `max_tokens` that thinking gets if the requested budget leaves no room for the answer. */
const BUDGET_SHARE = 0.75;
/** The longest `metadata.user_id`, in characters. */
const USER_MAX = 256;
/** The smallest `top_p` that is accepted with thinking. */
const THINKING_TOP_P_MIN = 0.95;
/** Values of `output_config.effort`, weakest first. */
const EFFORT_VALUES: readonly Effort[] = ['low', 'medium', 'high', 'max'];

/** Encodes the request for the upstream's model `model`. */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
  const { system, messages } = writeMessages(request, drops);
  const maxTokens = request.maxOutputTokens ?? defaultMaxTokens(model);
  const thinking = writeThinking(request, { model, maxTokens, messages });
  if (!thinking) drops.scalar(request, 'reasoning');
  const isThinking = thinking?.thinking !== undefined && thinking.thinking.type !== 'disabled';
  const { tools, betas } = writeTools(request, drops);
  const body: JsonObject = {
    model,
    max_tokens: maxTokens,
    messages,
    ...(system.length > 0 ? { system } : {}),
    ...(request.stream ? { stream: true } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...writeToolChoiceField(request, { tools, isThinking }, drops),
    ...writeSampling(request, isThinking, drops),
    ...(thinking?.thinking ? { thinking: thinking.thinking } : {}),
    ...writeOutput(request, thinking?.effort, drops),
    ...writeScalars(request, drops),
    ...drops.extras(request, NAME),
  };
  const servers = request.tools.flatMap((tool) => serverOf(tool) ?? []);
  if (servers.length > 0) body.mcp_servers = servers;
  const headers = {
    'anthropic-version': VERSION,
    ...(betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}),
  };
  return { path: PATH, body, headers, dropped: drops.list };
}

/** Scalars that this format can carry, at least with some values. */
const CARRIED: readonly ScalarName[] = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'stop',
  'toolChoice',
  'parallelToolCalls',
  'reasoning',
  'format',
  'user',
  'serviceTier',
  'modalities',
];

function writeScalars(request: ChatRequest, drops: Drops): JsonObject {
  drops.allScalarsBut(request, request.choices > 1 ? CARRIED : [...CARRIED, 'choices']);
  const { user, modalities = [] } = request;
  const stop = request.stop.filter((sequence) => sequence.trim() !== '');
  if (stop.length < request.stop.length) drops.scalar(request, 'stop');
  if (modalities.some((kind) => kind !== 'text')) drops.scalar(request, 'modalities');
  if (user !== undefined && user.length > USER_MAX) drops.scalar(request, 'user');
  const tier = request.serviceTier && REQUEST_TIERS[request.serviceTier];
  if (!tier) drops.scalar(request, 'serviceTier');
  return {
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...(user !== undefined && user.length <= USER_MAX ? { metadata: { user_id: user } } : {}),
    ...(tier ? { service_tier: tier } : {}),
  };
}

/**
 * Encodes temperature, top_p and top_k. The provider refuses top_k, a small top_p and any temperature but 1
 * together with thinking. Its largest temperature is 1; other formats allow 2.
 */
function writeSampling(request: ChatRequest, isThinking: boolean, drops: Drops): JsonObject {
  const { temperature, topP, topK } = request;
  const isTemperatureKept = temperature !== undefined && (!isThinking || temperature === 1);
  const isTopPKept = topP !== undefined && (!isThinking || topP >= THINKING_TOP_P_MIN);
  const isTopKKept = topK !== undefined && !isThinking;
  if (!isTemperatureKept || temperature > 1) drops.scalar(request, 'temperature');
  if (!isTopPKept) drops.scalar(request, 'topP');
  if (!isTopKKept) drops.scalar(request, 'topK');
  return {
    ...(isTemperatureKept ? { temperature: Math.min(temperature, 1) } : {}),
    ...(isTopPKept ? { top_p: topP } : {}),
    ...(isTopKKept ? { top_k: topK } : {}),
  };
}

interface Thinking {
  thinking?: JsonObject;
  effort?: Effort;
}

/** Encodes the requested thinking; undefined if this request cannot have it. */
function writeThinking(
  request: ChatRequest,
  { model, maxTokens, messages }: { model: string; maxTokens: number; messages: JsonObject[] },
): Thinking | undefined {
  const { reasoning } = request;
  if (!reasoning) return {};
  if (!isReasoningWanted(reasoning)) return { thinking: { type: 'disabled' } };
  const effort = effortOf(reasoning, EFFORT_VALUES);
  if (reasoning.adaptive || thinksAdaptively(model)) {
    const display =
      reasoning.visible === undefined
        ? {}
        : { display: reasoning.visible === false ? 'omitted' : 'summarized' };
    return { thinking: { type: 'adaptive', ...display }, ...(effort ? { effort } : {}) };
  }
  const requested = Math.max(BUDGET_MIN, budgetOf(reasoning) ?? BUDGET_MIN * 8);
  const budget = requested < maxTokens ? requested : Math.floor(maxTokens * BUDGET_SHARE);
  if (budget < BUDGET_MIN || isToolLoopWithoutThinking(messages)) return undefined;
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/**
 * Whether the request continues a chain of tool calls that began without thinking. The provider refuses to
 * switch thinking on within such a chain.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
function isToolLoopWithoutThinking(messages: JsonObject[]): boolean {
  const types = blockTypes(messages.findLast(({ role }) => role === 'assistant'));
  const isInLoop = types.includes('tool_use') && blockTypes(messages.at(-1)).includes('tool_result');
  return isInLoop && types[0] !== 'thinking' && types[0] !== 'redacted_thinking';
}

function blockTypes(message: JsonObject | undefined): unknown[] {
  const content: unknown = message?.content;
  return Array.isArray(content) ? content.map((block: JsonObject) => block.type) : [];
}

function writeOutput(request: ChatRequest, effort: Effort | undefined, drops: Drops): JsonObject {
  const { format } = request;
  if (format?.kind === 'json') drops.scalar(request, 'format');
  const config: JsonObject = effort ? { effort } : {};
  if (format?.kind === 'schema') {
    const { schema, isChanged } = strictSchema(format.schema);
    if (isChanged) drops.scalar(request, 'format');
    config.format = { type: 'json_schema', schema };
  }
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}

function writeToolChoiceField(
  request: ChatRequest,
  { tools, isThinking }: { tools: JsonObject[]; isThinking: boolean },
  drops: Drops,
): JsonObject {
  const toolChoice = writeToolChoice(request);
  if (!toolChoice) return {};
  const isKnown = toolChoice.type !== 'tool' || tools.some(({ name }) => name === toolChoice.name);
  if (tools.length === 0 || !isKnown) {
    drops.scalar(request, 'toolChoice');
    drops.scalar(request, 'parallelToolCalls');
    return {};
  }
  if (typeof request.toolChoice === 'object' && 'allowed' in request.toolChoice)
    drops.scalar(request, 'toolChoice');
  const isForced = toolChoice.type === 'any' || toolChoice.type === 'tool';
  if (!isThinking || !isForced) return { tool_choice: toolChoice };
  // The provider refuses forced tool calls together with thinking.
  drops.scalar(request, 'toolChoice');
  return { tool_choice: { ...toolChoice, type: 'auto', name: undefined } };
}

/** The newest versions that every current model accepts, and the beta header that each needs. */
const BUILTINS = {
  'web-search': { type: 'web_search_20250305', name: 'web_search', beta: undefined },
  'web-fetch': { type: 'web_fetch_20250910', name: 'web_fetch', beta: 'web-fetch-2025-09-10' },
  'code-execution': {
    type: 'code_execution_20250825',
    name: 'code_execution',
    beta: 'code-execution-2025-08-25',
  },
} as const;

function writeTools(request: ChatRequest, drops: Drops): { tools: JsonObject[]; betas: string[] } {
  const allowed =
    typeof request.toolChoice === 'object' && 'allowed' in request.toolChoice
      ? request.toolChoice.allowed
      : undefined;
  const betas: string[] = [];
  const tools = request.tools.flatMap((tool): JsonObject[] => {
    // This format has no list of allowed tools, so only the allowed ones are offered.
    if (tool.kind !== 'builtin') return allowed && !allowed.includes(tool.name) ? [] : [writeFunction(tool)];
    if (serverOf(tool)) return [];
    if (tool.dialect === NAME) return [tool.value];
    const known = tool.builtin ? BUILTINS[tool.builtin] : undefined;
    const isTaken = request.tools.some((other) => other.kind !== 'builtin' && other.name === known?.name);
    if (!known || isTaken) {
      drops.add(tool.at);
      return [];
    }
    if (known.beta) betas.push(known.beta);
    const { allowedDomains, blockedDomains } = tool;
    return [
      {
        type: known.type,
        name: known.name,
        ...(allowedDomains ? { allowed_domains: allowedDomains } : {}),
        ...(blockedDomains ? { blocked_domains: blockedDomains } : {}),
      },
    ];
  });
  return { tools, betas };
}

/** The entry of `mcp_servers` that the decoder stored as a tool. */
function serverOf(tool: Tool): JsonObject | undefined {
  const server = tool.kind === 'builtin' && tool.dialect === NAME ? tool.value.mcp_server : undefined;
  return isObject(server) ? server : undefined;
}

function writeFunction(tool: Exclude<Tool, { kind: 'builtin' }>): JsonObject {
  const { name, description, parameters, strict } = tool.kind === 'custom' ? wrapCustomTool(tool) : tool;
  return {
    name,
    ...(description ? { description } : {}),
    input_schema: { type: 'object', ...parameters },
    ...(strict === undefined ? {} : { strict }),
    ...(tool.cache ? { cache_control: writeCacheControl(tool.cache) } : {}),
  };
}
