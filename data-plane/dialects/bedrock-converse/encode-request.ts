/** Encodes requests for upstreams of the Converse format. */
import type { ChatRequest, ScalarName, Tool } from '../canonical.ts';
import { wrapCustomTool } from '../custom-tools.ts';
import type { UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { isReasoningWanted } from '../effort.ts';
import { writeJson } from '../exact-json.ts';
import { objectsOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { writeMessages } from './encode-messages.ts';
import { familyOf } from './models.ts';
import type { ModelFamily } from './models.ts';
import { NAME, REQUEST_TIERS, pathFor, writeCachePoint } from './wire.ts';

/** The largest temperature that the format accepts; other formats allow 2. */
const TEMPERATURE_MAX = 1;

/** Encodes the request for the upstream's model `model`, which decides about members beside the format's. */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
  const family = familyOf(model);
  const { system, messages } = writeMessages(request, { drops, cachePoints: family.cachePoints });
  const { fields, isReasoning } = writeModelFields(request, { family, messages }, drops);
  const inference = writeInference(request, isReasoning, drops);
  const toolConfig = writeToolConfig(request, { family, isReasoning }, drops);
  const tier = request.serviceTier && REQUEST_TIERS[request.serviceTier];
  if (!tier) drops.scalar(request, 'serviceTier');
  const body: JsonObject = {
    messages,
    ...(system.length > 0 ? { system } : {}),
    ...(Object.keys(inference).length > 0 ? { inferenceConfig: inference } : {}),
    ...(toolConfig ? { toolConfig } : {}),
    ...writeFormat(request, drops),
    ...(Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {}),
    ...(family.responsePaths ? { additionalModelResponseFieldPaths: family.responsePaths } : {}),
    ...(tier ? { serviceTier: { type: tier } } : {}),
    ...drops.extras(request, NAME),
  };
  return { path: pathFor(model, request.stream), body, headers: {}, dropped: drops.list };
}

/** Scalars that this format can carry, at least with some values or for some models. */
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
  'serviceTier',
  'modalities',
];

function writeInference(request: ChatRequest, isReasoning: boolean, drops: Drops): JsonObject {
  drops.allScalarsBut(request, request.choices > 1 ? CARRIED : [...CARRIED, 'choices']);
  const { maxOutputTokens, temperature, topP, modalities = [], parallelToolCalls } = request;
  if (modalities.some((kind) => kind !== 'text')) drops.scalar(request, 'modalities');
  // Models may call several tools at a time, and the format has no switch for that.
  if (parallelToolCalls === false) drops.scalar(request, 'parallelToolCalls');
  const stop = request.stop.filter((sequence) => sequence !== '');
  if (stop.length < request.stop.length) drops.scalar(request, 'stop');
  const isTemperatureKept = temperature !== undefined && !isReasoning;
  if (!isTemperatureKept || temperature > TEMPERATURE_MAX) drops.scalar(request, 'temperature');
  if (isReasoning) drops.scalar(request, 'topP');
  return {
    ...(maxOutputTokens === undefined ? {} : { maxTokens: maxOutputTokens }),
    ...(isTemperatureKept ? { temperature: Math.min(temperature, TEMPERATURE_MAX) } : {}),
    ...(topP === undefined || isReasoning ? {} : { topP }),
    ...(stop.length > 0 ? { stopSequences: stop } : {}),
  };
}

/**
 * Encodes what only some models know, in members of their own. `isReasoning` says that the reasoning excludes
 * sampling and forced tool calls.
 */
function writeModelFields(
  request: ChatRequest,
  { family, messages }: { family: ModelFamily; messages: JsonObject[] },
  drops: Drops,
): { fields: JsonObject; isReasoning: boolean } {
  const { reasoning, topK } = request;
  const { isStrictWithReasoning = false } = family;
  const isWanted = isReasoningWanted(reasoning);
  const isPossible = !isWanted || !isStrictWithReasoning || !isToolLoopWithoutThinking(messages);
  const thinking = reasoning && isPossible ? family.reasoning?.(request) : undefined;
  if (!thinking) drops.scalar(request, 'reasoning');
  const isReasoning = isStrictWithReasoning && isWanted && thinking !== undefined;
  const sampling = topK === undefined || isReasoning ? undefined : family.topK?.(topK);
  if (!sampling) drops.scalar(request, 'topK');
  return { fields: { ...sampling, ...thinking }, isReasoning };
}

/**
 * Whether the request continues a chain of tool calls that began without thinking. Claude refuses to switch
 * thinking on within such a chain.
 */
function isToolLoopWithoutThinking(messages: JsonObject[]): boolean {
  const [first = {}, ...rest] = blocksOf(messages.findLast(({ role }) => role === 'assistant'));
  const isInLoop =
    [first, ...rest].some((block) => 'toolUse' in block) &&
    blocksOf(messages.at(-1)).some((block) => 'toolResult' in block);
  return isInLoop && !('reasoningContent' in first);
}

function blocksOf(message: JsonObject | undefined): JsonObject[] {
  return objectsOf(message?.content);
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html */
function writeFormat(request: ChatRequest, drops: Drops): JsonObject {
  const { format } = request;
  if (format?.kind === 'json') drops.scalar(request, 'format');
  if (format?.kind !== 'schema') return {};
  const { schema, name, description } = format;
  const jsonSchema = {
    schema: writeJson(schema),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
  };
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
}

interface ToolOptions {
  family: ModelFamily;
  isReasoning: boolean;
}

/**
 * Encodes `toolConfig`; undefined without tools. The provider demands tools if the history has calls, so
 * those of the history stand for missing ones.
 */
function writeToolConfig(
  request: ChatRequest,
  { family, isReasoning }: ToolOptions,
  drops: Drops,
): JsonObject | undefined {
  const history = calledTools(request);
  // The format cannot forbid calls. Without tools there are none, if the history does not demand tools.
  const isForbidden = request.toolChoice === 'none' && history.length === 0;
  if (isForbidden) for (const { at } of request.tools) drops.add(at);
  const offered = isForbidden ? [] : writeTools(request, family, drops);
  const choice = offered.length > 0 ? writeToolChoice(request, isReasoning, drops) : undefined;
  if (offered.length === 0 && !isForbidden) drops.scalar(request, 'toolChoice');
  const tools = offered.length > 0 ? offered : history.map((name) => toolSpec({ name, description: '' }));
  return tools.length > 0 ? { tools, ...(choice ? { toolChoice: choice } : {}) } : undefined;
}

function calledTools({ messages }: ChatRequest): string[] {
  const parts = messages.flatMap((message) => message.parts);
  const names = parts.flatMap((part) =>
    part.kind === 'tool-call' || part.kind === 'tool-result' ? [part.name || 'tool'] : [],
  );
  return [...new Set(names)];
}

function writeTools(request: ChatRequest, { cachePoints }: ModelFamily, drops: Drops): JsonObject[] {
  const { toolChoice } = request;
  const allowed = typeof toolChoice === 'object' && 'allowed' in toolChoice ? toolChoice.allowed : undefined;
  return request.tools.flatMap((tool): JsonObject[] => {
    if (tool.kind === 'builtin') {
      drops.add(tool.at);
      return [];
    }
    // This format has no list of allowed tools, so only the allowed ones are offered.
    if (allowed && !allowed.includes(tool.name)) return [];
    if (!tool.cache) return [writeFunction(tool)];
    if (cachePoints === 'everywhere') return [writeFunction(tool), writeCachePoint(tool.cache)];
    drops.add(`${tool.at}/cache_control`);
    return [writeFunction(tool)];
  });
}

function writeFunction(tool: Exclude<Tool, { kind: 'builtin' }>): JsonObject {
  return toolSpec(tool.kind === 'custom' ? wrapCustomTool(tool) : tool);
}

interface Specified {
  name: string;
  description: string;
  parameters?: JsonObject;
  strict?: boolean;
}

function toolSpec({ name, description, parameters, strict }: Specified): JsonObject {
  return {
    toolSpec: {
      name,
      ...(description ? { description } : {}),
      inputSchema: { json: { type: 'object', ...parameters } },
      ...(strict === undefined ? {} : { strict }),
    },
  };
}

/** Encodes `toolChoice`. Claude refuses forced tool calls together with thinking. */
function writeToolChoice(request: ChatRequest, isReasoning: boolean, drops: Drops): JsonObject | undefined {
  const { toolChoice, tools } = request;
  if (toolChoice === undefined) return undefined;
  if (toolChoice === 'auto') return { auto: {} };
  if (toolChoice === 'none') {
    drops.scalar(request, 'toolChoice');
    return undefined;
  }
  const isNamed = typeof toolChoice === 'object' && 'name' in toolChoice;
  const isList = typeof toolChoice === 'object' && 'allowed' in toolChoice;
  const isForced = toolChoice === 'required' || isNamed || (isList && toolChoice.mode === 'required');
  const isKnown = !isNamed || tools.some((tool) => tool.kind !== 'builtin' && tool.name === toolChoice.name);
  if (isList || (isForced && isReasoning) || !isKnown) drops.scalar(request, 'toolChoice');
  if (!isForced || isReasoning || !isKnown) return { auto: {} };
  return isNamed ? { tool: { name: toolChoice.name } } : { any: {} };
}
