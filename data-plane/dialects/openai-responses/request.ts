/** Requests in the responses format: what clients send, and what upstreams are asked. */
import { GatewayError } from '@gateway/shared/failures';
import { EFFORTS } from '../canonical.ts';
import type {
  AnswerFormat,
  ChatRequest,
  Effort,
  Extra,
  Message,
  Reasoning,
  ScalarName,
} from '../canonical.ts';
import type { RequestPath, UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { effortOf } from '../effort.ts';
import { Fields, refuseStored, wrong } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { scalarKeeper } from '../scalars.ts';
import { encodeInput } from './input.ts';
import { decodeInput } from './items.ts';
import { askForSummary, endsInTrigger } from './summary.ts';
import { decodeToolChoice, decodeTools, encodeToolChoice, encodeTools } from './tools.ts';

const DIALECT = 'openai-responses';
const ENCRYPTED_REASONING = 'reasoning.encrypted_content';
const LOGPROBS = 'message.output_text.logprobs';

/**
 * Where earlier turns or prompts are kept at the provider, which all customers of one account would share.
 */
const STORED = ['previous_response_id', 'conversation', 'prompt'] as const;

/** Scalars that this format has a field for. */
const CARRIED: readonly ScalarName[] = [
  'toolChoice',
  'parallelToolCalls',
  'maxOutputTokens',
  'temperature',
  'topP',
  'logprobs',
  'reasoning',
  'format',
  'verbosity',
  'user',
  'metadata',
  'serviceTier',
  'cacheKey',
  'cacheRetention',
];

/**
 * Reads a client's request. Throws `invalid_request` for what is malformed, for references to stored objects
 * and for background responses.
 */
export function decodeRequest(wire: JsonObject, _path: RequestPath): ChatRequest {
  const fields = new Fields(wire);
  refuseState(fields);
  fields.ignore(
    'store',
    'background',
    'stream_options',
    ...(wire.truncation === 'disabled' ? ['truncation'] : []),
  );
  const tools = decodeTools(fields);
  const items: Fields[] = [];
  const input = fields.take('input');
  const triggered = endsInTrigger(input);
  const conversation = triggered ? input.slice(0, -1) : input;
  const messages = [...instructions(fields), ...decodeInput(conversation, tools, items)];
  if (messages.length === 0) throw wrong('/input', 'a text or a list of items, not empty');
  const request: ChatRequest = {
    model: fields.requiredString('model'),
    stream: fields.boolean('stream') ?? false,
    choices: 1,
    messages,
    tools,
    stop: [],
    pointers: {},
    extras: [],
    shape: {},
  };
  readScalars(fields, request);
  readReasoning(fields, request);
  readText(fields, request);
  const included = readInclude(fields, request);
  const leftovers = [fields, ...items].flatMap((each) => each.leftovers());
  request.extras = [...leftovers.map((leftover): Extra => ({ dialect: DIALECT, ...leftover })), ...included];
  return triggered ? askForSummary(request, `/input/${input.length - 1}`) : request;
}

function refuseState(fields: Fields): void {
  for (const name of STORED) if (fields.has(name)) throw refuseStored(fields.pointer(name));
  if (fields.boolean('background') !== true) return;
  const message =
    'Background responses are not served. Leave `background` out and keep the connection open, or stream.';
  throw new GatewayError('invalid_request', message, { parameter: '/background' });
}

function instructions(fields: Fields): Message[] {
  const text = fields.string('instructions');
  const at = '/instructions';
  return text ? [{ role: 'system', at, parts: [{ kind: 'text', text, at }] }] : [];
}

function readScalars(fields: Fields, request: ChatRequest): void {
  const keep = scalarKeeper(request, request.pointers, (field) => fields.pointer(field));
  keep('toolChoice', decodeToolChoice(fields, request.tools), 'tool_choice');
  keep('parallelToolCalls', fields.boolean('parallel_tool_calls'), 'parallel_tool_calls');
  keep('maxOutputTokens', fields.integer('max_output_tokens'), 'max_output_tokens');
  keep('temperature', fields.number('temperature'), 'temperature');
  keep('topP', fields.number('top_p'), 'top_p');
  keep('metadata', readMetadata(fields), 'metadata');
  const user = fields.has('user') ? 'user' : 'safety_identifier';
  keep('user', fields.string(user), user);
  keep('serviceTier', fields.string('service_tier'), 'service_tier');
  keep('cacheKey', fields.string('prompt_cache_key'), 'prompt_cache_key');
  keep('cacheRetention', fields.string('prompt_cache_retention'), 'prompt_cache_retention');
  const top = fields.integer('top_logprobs');
  if (top) keep('logprobs', { top }, 'top_logprobs');
}

function readMetadata(fields: Fields): Record<string, string> | undefined {
  const metadata = fields.object('metadata');
  const names = Object.keys(metadata?.value ?? {}).filter((name) => metadata?.has(name));
  if (!metadata || names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, metadata.requiredString(name)]));
}

function readReasoning(fields: Fields, request: ChatRequest): void {
  const wish = fields.object('reasoning');
  if (!wish) return;
  const reasoning: Reasoning = {};
  if (wish.has('effort') && typeof wish.value.effort !== 'string')
    throw wrong(wish.pointer('effort'), 'a string');
  const effort = EFFORTS.find((word) => word === wish.value.effort);
  if (effort !== undefined) {
    wish.ignore('effort');
    reasoning.effort = effort;
  }
  const summary = wish.string('summary') ?? wish.string('generate_summary');
  wish.ignore('generate_summary');
  if (summary !== undefined) reasoning.visible = summary;
  if (effort === undefined && summary === undefined) return;
  request.reasoning = reasoning;
  request.pointers.reasoning = fields.pointer('reasoning');
}

function readText(fields: Fields, request: ChatRequest): void {
  const text = fields.object('text');
  const verbosity = text?.string('verbosity');
  if (text && verbosity !== undefined) {
    request.verbosity = verbosity;
    request.pointers.verbosity = text.pointer('verbosity');
  }
  const format = text?.object('format');
  if (!text || !format) return;
  const decoded = readFormat(format);
  if (!decoded) return;
  request.format = decoded;
  request.pointers.format = text.pointer('format');
}

function readFormat(format: Fields): AnswerFormat | undefined {
  const type = format.string('type');
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') return undefined;
  const schema = format.whole('schema');
  const name = format.string('name');
  const description = format.string('description');
  const strict = format.boolean('strict');
  return {
    kind: 'schema',
    schema: schema ?? {},
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(strict === undefined ? {} : { strict }),
  };
}

/**
 * Encrypted reasoning is asked for anyway; log probabilities are a scalar of their own; the rest is this
 * format's.
 */
function readInclude(fields: Fields, request: ChatRequest): Extra[] {
  const include = fields.strings('include') ?? [];
  if (include.includes(LOGPROBS) && !request.logprobs) {
    request.logprobs = { top: 0 };
    request.pointers.logprobs = `/include/${include.indexOf(LOGPROBS)}`;
  }
  return include
    .map((value, index): Extra => ({ dialect: DIALECT, pointer: `/include/${index}`, value }))
    .filter(({ value }) => value !== ENCRYPTED_REASONING && value !== LOGPROBS);
}

/**
 * The request for an upstream of this format; nothing is stored there, so encrypted reasoning has to come
 * inline.
 */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
  const { instructions: system, input } = encodeInput(request, drops);
  const tools = encodeTools(request.tools, drops);
  drops.allScalarsBut(request, carried(request, tools.length > 0));
  const extras = request.extras.filter((extra) => !isIncluded(extra));
  const body: JsonObject = {
    ...drops.extras({ ...request, extras }, DIALECT),
    model,
    ...(system ? { instructions: system } : {}),
    input,
    ...(tools.length > 0 ? { tools, ...present('tool_choice', encodeToolChoice(request)) } : {}),
    ...settings(request),
    store: false,
    ...(request.stream ? { stream: true } : {}),
    include: included(request),
  };
  return { path: '/responses', body, headers: {}, dropped: drops.list };
}

/** One answer is what this format gives; a choice of tools without tools is refused there. */
function carried(request: ChatRequest, hasTools: boolean): ScalarName[] {
  const names = CARRIED.filter((name) => hasTools || name !== 'toolChoice');
  if (request.choices <= 1) names.push('choices');
  if (request.modalities?.every((kind) => kind.toLowerCase() === 'text')) names.push('modalities');
  return names;
}

/**
 * The fields that both requests and answers carry: what was asked for besides the conversation and the tools.
 */
export function settings(request: ChatRequest): JsonObject {
  const text = {
    ...present('format', encodeFormat(request.format)),
    ...present('verbosity', request.verbosity),
  };
  return {
    ...present('parallel_tool_calls', request.parallelToolCalls),
    ...present('max_output_tokens', request.maxOutputTokens),
    ...present('temperature', request.temperature),
    ...present('top_p', request.topP),
    ...present('top_logprobs', request.logprobs?.top),
    ...present('reasoning', encodeReasoning(request.reasoning)),
    ...(Object.keys(text).length > 0 ? { text } : {}),
    ...present('user', request.user),
    ...present('metadata', request.metadata),
    ...present('service_tier', encodeTier(request.serviceTier)),
    ...present('prompt_cache_key', request.cacheKey),
    ...present('prompt_cache_retention', request.cacheRetention),
  };
}

function included(request: ChatRequest): string[] {
  const others = request.extras
    .filter(isIncluded)
    .flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return [ENCRYPTED_REASONING, ...(request.logprobs ? [LOGPROBS] : []), ...others];
}

function isIncluded({ dialect, pointer }: Extra): boolean {
  return dialect === DIALECT && pointer.startsWith('/include/');
}

function encodeReasoning(reasoning: Reasoning | undefined): JsonObject | undefined {
  if (!reasoning) return undefined;
  const effort: Effort | undefined = effortOf(reasoning, EFFORTS);
  const isHidden = reasoning.visible === false || effort === 'none';
  const summary = typeof reasoning.visible === 'string' ? reasoning.visible : 'auto';
  return { ...present('effort', effort), ...(isHidden ? {} : { summary }) };
}

function encodeFormat(format: AnswerFormat | undefined): JsonObject | undefined {
  if (!format || format.kind === 'text') return undefined;
  if (format.kind === 'json') return { type: 'json_object' };
  return {
    type: 'json_schema',
    name: format.name ?? 'answer',
    ...present('description', format.description),
    schema: format.schema,
    strict: format.strict ?? false,
  };
}

/** Other formats' word for the ordinary tier is `standard`. */
function encodeTier(tier: string | undefined): string | undefined {
  return tier === 'standard' || tier === 'standard_only' ? 'default' : tier;
}

function present(name: string, value: unknown): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
