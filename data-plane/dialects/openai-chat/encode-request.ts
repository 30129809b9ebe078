/** Encodes requests for upstreams of chat completions. */
import type { ChatRequest, ScalarName, Tool, ToolChoice } from '../canonical.ts';
import type { UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { effortOf } from '../effort.ts';
import { withoutUndefined } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { OPENAI_TIERS } from '../vocabularies.ts';
import { writeMessages } from './encode-messages.ts';
import { EFFORT_VALUES, NAME, USER_MAX } from './wire.ts';

/** Path of the endpoint, relative to the upstream's base URL. */
export const PATH = '/chat/completions';

/** Encodes the request for the upstream's model `model`. Streams always request usage. */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
  drops.cacheMarks(request);
  const body: JsonObject = {
    model,
    messages: writeMessages(request, drops),
    ...(request.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...writeTools(request, drops),
    ...writeScalars(request, drops),
    ...drops.extras(request, NAME),
  };
  return { path: PATH, body, headers: {}, dropped: drops.list };
}

/** Scalars that this format can carry, at least with some values. */
const CARRIED: readonly ScalarName[] = [
  'choices',
  'toolChoice',
  'parallelToolCalls',
  'maxOutputTokens',
  'temperature',
  'topP',
  'stop',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'logprobs',
  'reasoning',
  'format',
  'verbosity',
  'modalities',
  'user',
  'serviceTier',
  'cacheKey',
  'cacheRetention',
];

function writeScalars(request: ChatRequest, drops: Drops): JsonObject {
  // Drops `metadata`, too: OpenAI accepts it only for stored completions, and the gateway stores none.
  drops.allScalarsBut(request, CARRIED);
  const { user, serviceTier, modalities, logprobs } = request;
  const isUserKept = user !== undefined && user.length <= USER_MAX;
  const tier = serviceTier && OPENAI_TIERS[serviceTier];
  // Spoken answers need a voice, which only chat requests name.
  const hasVoice = request.extras.some(({ dialect, pointer }) => dialect === NAME && pointer === '/audio');
  const areModalitiesKept =
    modalities?.every((kind) => kind === 'text' || (kind === 'audio' && hasVoice)) ?? false;
  if (!isUserKept) drops.scalar(request, 'user');
  if (tier === undefined) drops.scalar(request, 'serviceTier');
  if (!areModalitiesKept) drops.scalar(request, 'modalities');
  return withoutUndefined({
    n: request.choices > 1 ? request.choices : undefined,
    max_completion_tokens: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stop.length > 0 ? request.stop : undefined,
    seed: request.seed,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
    logprobs: logprobs ? true : undefined,
    top_logprobs: logprobs && logprobs.top > 0 ? logprobs.top : undefined,
    reasoning_effort: request.reasoning ? effortOf(request.reasoning, EFFORT_VALUES) : undefined,
    response_format: writeFormat(request),
    verbosity: request.verbosity,
    modalities: areModalitiesKept ? modalities : undefined,
    user: isUserKept ? user : undefined,
    service_tier: tier,
    prompt_cache_key: request.cacheKey,
    prompt_cache_retention: request.cacheRetention,
  });
}

function writeFormat({ format }: ChatRequest): JsonObject | undefined {
  if (!format) return undefined;
  if (format.kind !== 'schema') return { type: format.kind === 'json' ? 'json_object' : 'text' };
  const { name = 'answer', description, schema, strict } = format;
  return { type: 'json_schema', json_schema: withoutUndefined({ name, description, schema, strict }) };
}

function writeTools(request: ChatRequest, drops: Drops): JsonObject {
  const search = request.tools.find(
    (tool) => tool.kind === 'builtin' && tool.value.web_search_options !== undefined,
  );
  const tools = request.tools.flatMap((tool) => writeTool(tool, drops));
  const own = search?.kind === 'builtin' && search.dialect === NAME ? search.value : {};
  if (tools.length === 0) {
    drops.scalar(request, 'toolChoice');
    drops.scalar(request, 'parallelToolCalls');
    return own;
  }
  const toolChoice = request.toolChoice && writeToolChoice(request.toolChoice, request.tools);
  if (toolChoice === undefined) drops.scalar(request, 'toolChoice');
  return {
    ...own,
    tools,
    ...withoutUndefined({ tool_choice: toolChoice, parallel_tool_calls: request.parallelToolCalls }),
  };
}

function writeTool(tool: Tool, drops: Drops): JsonObject[] {
  if (tool.kind === 'function') {
    const { name, description, parameters, strict } = tool;
    return [
      {
        type: 'function',
        function: withoutUndefined({ name, description: description || undefined, parameters, strict }),
      },
    ];
  }
  if (tool.kind === 'custom') {
    const { name, description, format } = tool;
    return [
      { type: 'custom', custom: withoutUndefined({ name, description: description || undefined, format }) },
    ];
  }
  // Other providers' search is not replaced: most models would refuse a request with `web_search_options`.
  if (tool.dialect !== NAME) drops.add(tool.at);
  return tool.dialect === NAME && tool.value.web_search_options === undefined ? [tool.value] : [];
}

function writeToolChoice(toolChoice: ToolChoice, tools: Tool[]): unknown {
  if (typeof toolChoice === 'string') return toolChoice;
  if ('name' in toolChoice) return toolReference(toolChoice.name, tools);
  const references = toolChoice.allowed.map((name) => toolReference(name, tools));
  return {
    type: 'allowed_tools',
    allowed_tools: {
      mode: toolChoice.mode,
      tools: references.filter((reference) => reference !== undefined),
    },
  };
}

/** The reference to a tool by name; undefined for server-side tools of other providers, which are dropped. */
function toolReference(name: string, tools: Tool[]): JsonObject | undefined {
  const tool = tools.find((one) => one.kind !== 'builtin' && one.name === name);
  if (!tool) return undefined;
  return tool.kind === 'custom'
    ? { type: 'custom', custom: { name } }
    : { type: 'function', function: { name } };
}
