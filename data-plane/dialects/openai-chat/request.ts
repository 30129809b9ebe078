/** A client's chat completions request, read into the canonical model. */
import { Fields, refuseStored, wrong } from '../fields.ts';
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
import { readCache, readMessages } from './messages.ts';
import { NAME } from './wire.ts';

/** Answers that one request may ask for at most; a model's own limit is usually lower. */
const CHOICES_MAX = 128;

/** Reads a request. Throws `invalid_request` naming the pointer of what is wrong. */
export function decodeRequest(wire: JsonObject): ChatRequest {
  const fields = new Fields(wire);
  const pointers: ChatRequest['pointers'] = {};
  const request: ChatRequest = {
    model: fields.requiredString('model'),
    stream: fields.boolean('stream') ?? false,
    choices: readChoices(fields),
    messages: readMessages(fields),
    tools: readTools(fields),
    stop: readStop(fields),
    ...readScalars(fields),
    pointers,
    extras: [],
    shape: readShape(fields),
  };
  // Stored completions would be shared by all customers of the operator's account: never asked for.
  fields.ignore('store');
  for (const [name, wires] of SCALARS) {
    for (const wire of wires) if (fields.has(wire)) pointers[name] ??= fields.pointer(wire);
  }
  request.extras = fields.leftovers().map((left) => ({ dialect: NAME, ...left }));
  return request;
}

/** Under which names each scalar may stand, the one that wins first. */
const WIRE_NAMES: Record<ScalarName, string[]> = {
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

const SCALARS = Object.entries(WIRE_NAMES) as [ScalarName, string[]][];

function readChoices(fields: Fields): number {
  const choices = fields.integer('n') ?? 1;
  if (choices < 1 || choices > CHOICES_MAX) throw wrong(fields.pointer('n'), `between 1 and ${CHOICES_MAX}`);
  return choices;
}

function readScalars(fields: Fields): Partial<ChatRequest> {
  const metadata = readMetadata(fields);
  const older = fields.integer('max_tokens');
  return withoutAbsent({
    toolChoice: readToolChoice(fields),
    parallelToolCalls: fields.boolean('parallel_tool_calls'),
    maxOutputTokens: fields.integer('max_completion_tokens') ?? older,
    temperature: fields.number('temperature'),
    topP: fields.number('top_p'),
    topK: fields.integer('top_k'),
    seed: fields.integer('seed'),
    presencePenalty: fields.number('presence_penalty'),
    frequencyPenalty: fields.number('frequency_penalty'),
    logprobs: readLogprobs(fields),
    reasoning: readReasoning(fields),
    format: readFormat(fields),
    verbosity: fields.string('verbosity'),
    modalities: fields.strings('modalities'),
    user: fields.has('user') ? fields.string('user') : fields.string('safety_identifier'),
    metadata,
    serviceTier: fields.string('service_tier'),
    cacheKey: fields.string('prompt_cache_key'),
    cacheRetention: fields.string('prompt_cache_retention'),
  });
}

/** Leaves absent values out, so that two requests that say the same are equal. */
function withoutAbsent<T extends object>(value: T): Partial<T> {
  const present: Partial<T> = {};
  for (const name in value) if (value[name] !== undefined) present[name] = value[name];
  return present;
}

function readStop(fields: Fields): string[] {
  const value = fields.take('stop');
  return typeof value === 'string' ? [value] : (fields.strings('stop') ?? []);
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

/** OpenAI's `reasoning_effort`, OpenRouter's `reasoning`, and `thinking` as Z.ai and DeepSeek take it. */
function readReasoning(fields: Fields): Reasoning | undefined {
  const word = fields.string('reasoning_effort');
  const nested = fields.object('reasoning');
  const thinking = fields.object('thinking');
  const effort = readEffort(word ?? nested?.string('effort'));
  const budget = nested?.integer('max_tokens') ?? thinking?.integer('budget_tokens');
  const isHidden = nested?.boolean('exclude');
  const isOff = nested?.boolean('enabled') === false || thinking?.string('type') === 'disabled';
  if (word === undefined && !nested && !thinking) return undefined;
  if (isOff) return { effort: 'none' };
  return withoutAbsent({ effort, budget, visible: isHidden === undefined ? undefined : !isHidden });
}

/** Unknown words mean: think, as much as the model likes. */
function readEffort(word: string | undefined): Effort | undefined {
  return EFFORTS.find((effort) => effort === word);
}

function readFormat(fields: Fields): AnswerFormat | undefined {
  const format = fields.object('response_format');
  if (!format) return undefined;
  const type = format.requiredString('type');
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  const described = format.object('json_schema');
  if (type !== 'json_schema' || !described) {
    throw wrong(format.pointer('type'), 'text, json_object, or json_schema with a json_schema beside it');
  }
  const schema = described.object('schema');
  schema?.ignoreAll();
  return {
    kind: 'schema',
    schema: schema?.value ?? {},
    ...withoutAbsent({
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
    if (!described) throw wrong(fields.pointer('function'), 'an object');
    return { ...readFunction(described, fields.at), ...readCache(fields) };
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
  if (fields.has('vector_store_ids')) throw refuseStored(fields.pointer('vector_store_ids'));
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
  const choice = fields.take('tool_choice') ?? legacy;
  const at = fields.pointer('tool_choice');
  if (choice === undefined) return undefined;
  if (typeof choice === 'string') return readChoiceWord(choice, at);
  const object = fields.child(choice, at);
  const allowed = object.object('allowed_tools');
  object.ignore('type');
  if (allowed) {
    const names = (allowed.objects('tools') ?? []).map((tool) => readName(tool));
    return { allowed: names, mode: allowed.string('mode') === 'required' ? 'required' : 'auto' };
  }
  return { name: readName(object) };
}

function readChoiceWord(word: string, at: string): ToolChoice {
  // Mistral and others say `any`.
  if (word === 'any') return 'required';
  if (word === 'auto' || word === 'none' || word === 'required') return word;
  throw wrong(at, 'auto, none, required or an object');
}

/** The name in `{function: {name}}`, `{custom: {name}}` or `{name}`; of a built-in tool, its type. */
function readName(fields: Fields): string {
  fields.ignore('type');
  const holder = fields.object('function') ?? fields.object('custom') ?? fields;
  return holder.string('name') ?? fields.string('type') ?? '';
}

function readShape(fields: Fields): ChatRequest['shape'] {
  const options = fields.object('stream_options');
  const usageInStream = options?.boolean('include_usage') ?? false;
  // Padding against traffic analysis: ours to decide, since we write the stream.
  options?.ignore('include_obfuscation');
  return {
    ...(usageInStream ? { usageInStream } : {}),
    ...(fields.has('functions') ? { legacyFunctions: true } : {}),
  };
}
