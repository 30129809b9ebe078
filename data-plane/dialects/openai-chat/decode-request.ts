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
  const request: ChatRequest = {
    model: fields.requiredString('model'),
    stream: fields.boolean('stream') ?? false,
    choices: 1,
    messages: readMessages(fields),
    tools: readTools(fields),
    stop: [],
    pointers: {},
    extras: [],
    shape: readShape(fields),
  };
  readScalars(request, fields);
  // Never passed on: all customers would share the completions stored in the operator's account.
  fields.ignore('store');
  request.extras = fields.leftovers().map((leftover) => ({ dialect: NAME, ...leftover }));
  return request;
}

type ReadScalar<Name extends ScalarName> = (fields: Fields) => ChatRequest[Name] | undefined;

/** The fields that may hold each scalar, and how it is read; the first field that is present has priority. */
const SCALARS: { [Name in ScalarName]: { fields: readonly string[]; read: ReadScalar<Name> } } = {
  choices: { fields: ['n'], read: readChoices },
  toolChoice: { fields: ['tool_choice', 'function_call'], read: readToolChoice },
  parallelToolCalls: own('parallel_tool_calls', (fields, name) => fields.boolean(name)),
  maxOutputTokens: { fields: ['max_completion_tokens', 'max_tokens'], read: readMaxTokens },
  temperature: own('temperature', (fields, name) => fields.number(name)),
  topP: own('top_p', (fields, name) => fields.number(name)),
  topK: own('top_k', (fields, name) => fields.integer(name)),
  stop: { fields: ['stop'], read: readStop },
  seed: own('seed', (fields, name) => fields.integer(name)),
  presencePenalty: own('presence_penalty', (fields, name) => fields.number(name)),
  frequencyPenalty: own('frequency_penalty', (fields, name) => fields.number(name)),
  logprobs: { fields: ['logprobs', 'top_logprobs'], read: readLogprobs },
  reasoning: { fields: ['reasoning_effort', 'reasoning', 'thinking'], read: readReasoning },
  format: { fields: ['response_format'], read: readFormat },
  verbosity: own('verbosity', (fields, name) => fields.word(name, READ_VERBOSITIES)),
  modalities: own('modalities', (fields, name) => fields.words(name, READ_MODALITIES)),
  user: { fields: ['user', 'safety_identifier'], read: readUser },
  metadata: { fields: ['metadata'], read: readMetadata },
  serviceTier: own('service_tier', (fields, name) => fields.word(name, OPENAI_READ_TIERS)),
  cacheKey: own('prompt_cache_key', (fields, name) => fields.string(name)),
  cacheRetention: own('prompt_cache_retention', (fields, name) => fields.word(name, READ_RETENTIONS)),
};

const SCALAR_OF: ReadonlyMap<string, ScalarName> = new Map(
  Object.entries(SCALARS).flatMap(([scalar, { fields }]) =>
    fields.map((field): [string, ScalarName] => [field, scalar as ScalarName]),
  ),
);

/** A scalar with one field of its own. */
function own<Value>(
  field: string,
  read: (fields: Fields, name: string) => Value,
): { fields: readonly string[]; read: (fields: Fields) => Value } {
  return { fields: [field], read: (fields) => read(fields, field) };
}

/** Reads each scalar that the client sent, once: most requests have few of them. */
function readScalars(request: ChatRequest, fields: Fields): void {
  for (const name in fields.value) {
    const scalar = SCALAR_OF.get(name);
    if (scalar !== undefined && request.pointers[scalar] === undefined) readScalar(request, fields, scalar);
  }
}

function readScalar<Name extends ScalarName>(request: ChatRequest, fields: Fields, scalar: Name): void {
  const { fields: names, read } = SCALARS[scalar];
  const value = read(fields);
  if (value !== undefined) request[scalar] = value;
  const field = names.find((name) => fields.isRead(name));
  if (field !== undefined) request.pointers[scalar] = fields.pointer(field);
}

function readMaxTokens(fields: Fields): number | undefined {
  const maxTokens = fields.integer('max_tokens');
  return fields.integer('max_completion_tokens') ?? maxTokens;
}

function readUser(fields: Fields): string | undefined {
  return fields.has('user') ? fields.string('user') : fields.string('safety_identifier');
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
