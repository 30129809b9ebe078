/** A canonical request, written for an upstream that speaks chat completions. */
import type { ChatRequest, ScalarName, Tool, ToolChoice } from '../canonical.ts';
import type { UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { effortOf } from '../effort.ts';
import type { JsonObject } from '../fields.ts';
import { writeMessages } from './upstream-messages.ts';
import { EFFORT_WORDS, NAME, SERVICE_TIERS, USER_MAX } from './wire.ts';

export const PATH = '/chat/completions';

/** Writes the request; usage is always asked for in streams. `dropped` names what this format cannot say. */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
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
  // `metadata` is refused by OpenAI unless the completion is stored, which it never is.
  drops.allScalarsBut(request, CARRIED);
  const { user, serviceTier, modalities, logprobs } = request;
  const isUserKept = user !== undefined && user.length <= USER_MAX;
  const tier = serviceTier === 'standard_only' ? 'default' : serviceTier;
  const isTierKept = tier !== undefined && SERVICE_TIERS.includes(tier);
  // Spoken answers also need a voice, which only a chat request names.
  const hasVoice = request.extras.some(({ dialect, pointer }) => dialect === NAME && pointer === '/audio');
  const areModalitiesKept =
    modalities?.every((kind) => kind === 'text' || (kind === 'audio' && hasVoice)) ?? false;
  if (!isUserKept) drops.scalar(request, 'user');
  if (!isTierKept) drops.scalar(request, 'serviceTier');
  if (!areModalitiesKept) drops.scalar(request, 'modalities');
  return present({
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
    reasoning_effort: request.reasoning ? effortOf(request.reasoning, EFFORT_WORDS) : undefined,
    response_format: writeFormat(request),
    verbosity: request.verbosity,
    modalities: areModalitiesKept ? modalities : undefined,
    user: isUserKept ? user : undefined,
    service_tier: isTierKept ? tier : undefined,
    prompt_cache_key: request.cacheKey,
    prompt_cache_retention: request.cacheRetention,
  });
}

function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function writeFormat({ format }: ChatRequest): JsonObject | undefined {
  if (!format) return undefined;
  if (format.kind !== 'schema') return { type: format.kind === 'json' ? 'json_object' : 'text' };
  const { name = 'answer', description, schema, strict } = format;
  return { type: 'json_schema', json_schema: present({ name, description, schema, strict }) };
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
  const choice =
    request.toolChoice === undefined ? undefined : writeChoice(request.toolChoice, request.tools);
  if (choice === undefined) drops.scalar(request, 'toolChoice');
  return {
    ...own,
    tools,
    ...present({ tool_choice: choice, parallel_tool_calls: request.parallelToolCalls }),
  };
}

function writeTool(tool: Tool, drops: Drops): JsonObject[] {
  if (tool.cache) drops.add(`${tool.at}/cache_control`);
  if (tool.kind === 'function') {
    const { name, description, parameters, strict } = tool;
    return [
      {
        type: 'function',
        function: present({ name, description: description || undefined, parameters, strict }),
      },
    ];
  }
  if (tool.kind === 'custom') {
    const { name, description, format } = tool;
    return [{ type: 'custom', custom: present({ name, description: description || undefined, format }) }];
  }
  // Search by `web_search_options` exists on a few models only; the others would refuse the whole request.
  if (tool.dialect !== NAME) drops.add(tool.at);
  return tool.dialect === NAME && tool.value.web_search_options === undefined ? [tool.value] : [];
}

function writeChoice(choice: ToolChoice, tools: Tool[]): unknown {
  if (typeof choice === 'string') return choice;
  if ('name' in choice) return nameOf(choice.name, tools);
  const names = choice.allowed.map((name) => nameOf(name, tools));
  return {
    type: 'allowed_tools',
    allowed_tools: { mode: choice.mode, tools: names.filter((name) => name !== undefined) },
  };
}

/** Undefined where the name is that of another provider's built-in tool, which did not come along. */
function nameOf(name: string, tools: Tool[]): JsonObject | undefined {
  const tool = tools.find((one) => one.kind !== 'builtin' && one.name === name);
  if (!tool) return undefined;
  return tool.kind === 'custom'
    ? { type: 'custom', custom: { name } }
    : { type: 'function', function: { name } };
}
