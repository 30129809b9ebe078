/** Decodes a client's responses request. */
import { GatewayError } from '@gateway/shared/failures';
import { EFFORTS } from '../canonical.ts';
import type { AnswerFormat, ChatRequest, Extra, Message, Reasoning } from '../canonical.ts';
import { Fields, fieldError, storedObjectError } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { scalarKeeper } from '../scalars.ts';
import { OPENAI_READ_TIERS, READ_RETENTIONS, READ_VERBOSITIES } from '../vocabularies.ts';
import { askForSummary, endsInTrigger } from './compaction.ts';
import { readMessages } from './decode-messages.ts';
import { readToolChoice, readTools } from './decode-tools.ts';
import { ENCRYPTED_REASONING, LOGPROBS, NAME } from './wire.ts';

/** Fields that refer to conversations or prompts stored at the provider. */
const STORED = ['previous_response_id', 'conversation', 'prompt'] as const;

/**
 * Decodes a request. Throws `invalid_request` with the pointer of an invalid field, of a reference to a
 * stored object, or of `background`.
 */
export function decodeRequest(wire: JsonObject): ChatRequest {
  const fields = new Fields(wire);
  refuseStoredState(fields);
  fields.ignore(
    'store',
    'background',
    'stream_options',
    ...(wire.truncation === 'disabled' ? ['truncation'] : []),
  );
  const tools = readTools(fields);
  const items: Fields[] = [];
  const input = fields.take('input');
  const wantsCompaction = endsInTrigger(input);
  const conversation = wantsCompaction ? input.slice(0, -1) : input;
  const messages = [...readInstructions(fields), ...readMessages(conversation, tools, items)];
  if (messages.length === 0) throw fieldError('/input', 'a text or a non-empty list of items');
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
  request.extras = [...leftovers.map((leftover): Extra => ({ dialect: NAME, ...leftover })), ...included];
  return wantsCompaction ? askForSummary(request, `/input/${input.length - 1}`) : request;
}

function refuseStoredState(fields: Fields): void {
  for (const name of STORED) if (fields.has(name)) throw storedObjectError(fields.pointer(name));
  if (fields.boolean('background') !== true) return;
  const message =
    'Background responses are not supported. Omit `background` and keep the connection open, or stream.';
  throw new GatewayError('invalid_request', message, { parameter: '/background' });
}

function readInstructions(fields: Fields): Message[] {
  const text = fields.string('instructions');
  const at = '/instructions';
  return text ? [{ role: 'system', at, parts: [{ kind: 'text', text, at }] }] : [];
}

function readScalars(fields: Fields, request: ChatRequest): void {
  const keep = scalarKeeper(request, request.pointers, (field) => fields.pointer(field));
  keep('toolChoice', readToolChoice(fields, request.tools), 'tool_choice');
  keep('parallelToolCalls', fields.boolean('parallel_tool_calls'), 'parallel_tool_calls');
  keep('maxOutputTokens', fields.integer('max_output_tokens'), 'max_output_tokens');
  keep('temperature', fields.number('temperature'), 'temperature');
  keep('topP', fields.number('top_p'), 'top_p');
  keep('metadata', readMetadata(fields), 'metadata');
  const user = fields.has('user') ? 'user' : 'safety_identifier';
  keep('user', fields.string(user), user);
  keep('serviceTier', fields.word('service_tier', OPENAI_READ_TIERS), 'service_tier');
  keep('cacheKey', fields.string('prompt_cache_key'), 'prompt_cache_key');
  keep('cacheRetention', fields.word('prompt_cache_retention', READ_RETENTIONS), 'prompt_cache_retention');
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
  const wire = fields.object('reasoning');
  if (!wire) return;
  const reasoning: Reasoning = {};
  if (wire.has('effort') && typeof wire.value.effort !== 'string')
    throw fieldError(wire.pointer('effort'), 'a string');
  const effort = EFFORTS.find((known) => known === wire.value.effort);
  if (effort !== undefined) {
    wire.ignore('effort');
    reasoning.effort = effort;
  }
  const summary = wire.string('summary') ?? wire.string('generate_summary');
  wire.ignore('generate_summary');
  if (summary !== undefined) reasoning.visible = summary;
  if (effort === undefined && summary === undefined) return;
  request.reasoning = reasoning;
  request.pointers.reasoning = fields.pointer('reasoning');
}

function readText(fields: Fields, request: ChatRequest): void {
  const text = fields.object('text');
  const verbosity = text?.word('verbosity', READ_VERBOSITIES);
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
 * Reads `include`. Encrypted reasoning is always requested, and log probabilities are a scalar; the other
 * values are returned as extras.
 */
function readInclude(fields: Fields, request: ChatRequest): Extra[] {
  const include = fields.strings('include') ?? [];
  if (include.includes(LOGPROBS) && !request.logprobs) {
    request.logprobs = { top: 0 };
    request.pointers.logprobs = `/include/${include.indexOf(LOGPROBS)}`;
  }
  return include
    .map((value, index): Extra => ({ dialect: NAME, pointer: `/include/${index}`, value }))
    .filter(({ value }) => value !== ENCRYPTED_REASONING && value !== LOGPROBS);
}
