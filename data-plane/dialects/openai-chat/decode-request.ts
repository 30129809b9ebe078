/** Decodes a client's chat completions request. */
import { readCacheControl } from '../cache-control.ts';
import { Fields, fieldError, storedObjectError, withoutUndefined } from '../fields.ts';
import { EFFORTS } from '../canonical.ts';
import type {
  AnswerFormat,
  ChatRequest,
  Effort,
  Reasoning,
  ScalarName,
  Tool,
  ToolChoice,
} from '../canonical.ts';
import type { JsonObject } from '../fields.ts';
import { readChoices, readStop, readStreamOptions } from '../openai-requests.ts';
import { OPENAI_READ_TIERS, READ_MODALITIES, READ_RETENTIONS, READ_VERBOSITIES } from '../vocabularies.ts';
import { readMessages } from './decode-messages.ts';
import { NAME } from './wire.ts';

/** Decodes a request. Throws `invalid_request` with the pointer of an invalid field. */
export function decodeRequest(wire: JsonObject): ChatRequest {
  const fields = new Fields(wire);
  const pointers: ChatRequest['pointers'] = {};
  const request: ChatRequest = {
    model: fields.requiredString('model'),
    stream: fields.boolean('stream') ?? false,
    choices: readChoices(fields),
    messages: readMessages(fields),
    tools: readTools(fields),
    stop: readStop(fields) ?? [],
    ...readScalars(fields),
    pointers,
    extras: [],
    shape: readShape(fields),
  };
  // Never passed on: all customers would share the completions stored in the operator's account.
  fields.ignore('store');
  for (const [name, fieldNames] of SCALARS) {
    for (const field of fieldNames) if (fields.isRead(field)) pointers[name] ??= fields.pointer(field);
  }
  request.extras = fields.leftovers().map((leftover) => ({ dialect: NAME, ...leftover }));
  return request;
}

/** The fields that may hold each scalar; the first one that is present wins. */
const SCALAR_FIELDS: Record<ScalarName, string[]> = {
  choices: ['n'],
  toolChoice: ['tool_choice', 'function_call'],
  parallelToolCalls: ['parallel_tool_calls'],
  maxOutputTokens: ['max_completion_tokens', 'max_tokens'],
  temperature: ['temperature'],
  topP: ['top_p'],
  topK: ['top_k'],
  stop: ['stop'],
  seed: ['seed'],
  presencePenalty: ['presence_penalty'],
  frequencyPenalty: ['frequency_penalty'],
  logprobs: ['logprobs', 'top_logprobs'],
  reasoning: ['reasoning_effort', 'reasoning', 'thinking'],
  format: ['response_format'],
  verbosity: ['verbosity'],
  modalities: ['modalities'],
  user: ['user', 'safety_identifier'],
  metadata: ['metadata'],
  serviceTier: ['service_tier'],
  cacheKey: ['prompt_cache_key'],
  cacheRetention: ['prompt_cache_retention'],
};

const SCALARS = Object.entries(SCALAR_FIELDS) as [ScalarName, string[]][];

function readScalars(fields: Fields): Partial<ChatRequest> {
  const metadata = readMetadata(fields);
  const maxTokens = fields.integer('max_tokens');
  return withoutUndefined({
    toolChoice: readToolChoice(fields),
    parallelToolCalls: fields.boolean('parallel_tool_calls'),
    maxOutputTokens: fields.integer('max_completion_tokens') ?? maxTokens,
    temperature: fields.number('temperature'),
    topP: fields.number('top_p'),
    topK: fields.integer('top_k'),
    seed: fields.integer('seed'),
    presencePenalty: fields.number('presence_penalty'),
    frequencyPenalty: fields.number('frequency_penalty'),
    logprobs: readLogprobs(fields),
    reasoning: readReasoning(fields),
    format: readFormat(fields),
    verbosity: fields.word('verbosity', READ_VERBOSITIES),
    modalities: fields.words('modalities', READ_MODALITIES),
    user: fields.has('user') ? fields.string('user') : fields.string('safety_identifier'),
    metadata,
    serviceTier: fields.word('service_tier', OPENAI_READ_TIERS),
    cacheKey: fields.string('prompt_cache_key'),
    cacheRetention: fields.word('prompt_cache_retention', READ_RETENTIONS),
  });
}

function readLogprobs(fields: Fields): { top: number } | undefined {
  const top = fields.integer('top_logprobs');
  return fields.boolean('logprobs') ? { top: top ?? 0 } : undefined;
}

function readMetadata(fields: Fields): Record<string, string> | undefined {
  const metadata = fields.object('metadata');
  if (!metadata) return undefined;
  return Object.fromEntries(Object.keys(metadata.value).map((name) => [name, metadata.string(name) ?? '']));
}

/** Reads OpenAI's `reasoning_effort`, OpenRouter's `reasoning`, and `thinking` of Z.ai and DeepSeek. */
function readReasoning(fields: Fields): Reasoning | undefined {
  const openAiEffort = fields.string('reasoning_effort');
  const nested = fields.object('reasoning');
  const thinking = fields.object('thinking');
  const effort = readEffort(openAiEffort ?? nested?.string('effort'));
  const budget = nested?.integer('max_tokens') ?? thinking?.integer('budget_tokens');
  const isHidden = nested?.boolean('exclude');
  const isOff = nested?.boolean('enabled') === false || thinking?.string('type') === 'disabled';
  if (openAiEffort === undefined && !nested && !thinking) return undefined;
  if (isOff) return { effort: 'none' };
  return withoutUndefined({ effort, budget, visible: isHidden === undefined ? undefined : !isHidden });
}

/** Undefined for an unknown effort: the model then decides how much to think. */
function readEffort(given: string | undefined): Effort | undefined {
  return EFFORTS.find((effort) => effort === given);
}

function readFormat(fields: Fields): AnswerFormat | undefined {
  const format = fields.object('response_format');
  if (!format) return undefined;
  const type = format.requiredString('type');
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  const described = format.object('json_schema');
  if (type !== 'json_schema' || !described) {
    throw fieldError(
      format.pointer('type'),
      'text, json_object, or json_schema with a json_schema beside it',
    );
  }
  const schema = described.object('schema');
  schema?.ignoreAll();
  return {
    kind: 'schema',
    schema: schema?.value ?? {},
    ...withoutUndefined({
      name: described.string('name'),
      description: described.string('description'),
      strict: described.boolean('strict'),
    }),
  };
}

function readTools(fields: Fields): Tool[] {
  const tools = (fields.objects('tools') ?? []).map(readTool);
  const functions = (fields.objects('functions') ?? []).map((legacy) => readFunction(legacy, legacy.at));
  const search = fields.object('web_search_options');
  search?.ignoreAll();
  if (!search) return [...tools, ...functions];
  const value = { web_search_options: search.value };
  return [
    ...tools,
    ...functions,
    { kind: 'builtin', dialect: NAME, value, builtin: 'web-search', at: search.at },
  ];
}

function readTool(fields: Fields): Tool {
  const type = fields.string('type') ?? 'function';
  if (type === 'function') {
    const described = fields.object('function');
    if (!described) throw fieldError(fields.pointer('function'), 'an object');
    return { ...readFunction(described, fields.at), ...readCacheControl(fields) };
  }
  const custom = type === 'custom' ? fields.object('custom') : undefined;
  if (custom) {
    const format = custom.object('format');
    format?.ignoreAll();
    return {
      kind: 'custom',
      name: custom.requiredString('name'),
      description: custom.string('description') ?? '',
      ...(format ? { format: format.value } : {}),
      at: fields.at,
    };
  }
  if (fields.has('vector_store_ids')) throw storedObjectError(fields.pointer('vector_store_ids'));
  fields.ignoreAll();
  return { kind: 'builtin', dialect: NAME, value: fields.value, at: fields.at };
}

function readFunction(fields: Fields, at: string): Tool {
  const parameters = fields.object('parameters');
  parameters?.ignoreAll();
  const strict = fields.boolean('strict');
  return {
    kind: 'function',
    name: fields.requiredString('name'),
    description: fields.string('description') ?? '',
    ...(parameters ? { parameters: parameters.value } : {}),
    ...(strict === undefined ? {} : { strict }),
    at,
  };
}

function readToolChoice(fields: Fields): ToolChoice | undefined {
  const legacy = fields.take('function_call');
  const toolChoice = fields.take('tool_choice') ?? legacy;
  const at = fields.pointer('tool_choice');
  if (toolChoice === undefined) return undefined;
  if (typeof toolChoice === 'string') return readToolMode(toolChoice, at);
  const object = fields.child(toolChoice, at);
  const allowed = object.object('allowed_tools');
  object.ignore('type');
  if (allowed) {
    const names = (allowed.objects('tools') ?? []).map((tool) => readName(tool));
    return { allowed: names, mode: allowed.string('mode') === 'required' ? 'required' : 'auto' };
  }
  return { name: readName(object) };
}

function readToolMode(mode: string, at: string): ToolChoice {
  // Clients of Mistral and others send `any`.
  if (mode === 'any') return 'required';
  if (mode === 'auto' || mode === 'none' || mode === 'required') return mode;
  throw fieldError(at, 'auto, none, required or an object');
}

/** The name in `{function: {name}}`, `{custom: {name}}` or `{name}`; the type of a server-side tool. */
function readName(fields: Fields): string {
  fields.ignore('type');
  const holder = fields.object('function') ?? fields.object('custom') ?? fields;
  return holder.string('name') ?? fields.string('type') ?? '';
}

function readShape(fields: Fields): ChatRequest['shape'] {
  return { ...readStreamOptions(fields), ...(fields.has('functions') ? { legacyFunctions: true } : {}) };
}
