/** Decodes a client's messages request. */
import { GatewayError } from '@gateway/shared/failures';
import { readCacheControl } from '../cache-control.ts';
import { EFFORTS } from '../canonical.ts';
import type { AnswerFormat, ChatRequest, Message, Reasoning, Tool, ToolChoice } from '../canonical.ts';
import { Fields, fieldError, pointTo, storedObjectError } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { scalarKeeper } from '../scalars.ts';
import { readMessages } from './decode-messages.ts';
import { NAME, READ_REQUEST_TIERS } from './wire.ts';

/** Decodes a request. Throws `invalid_request` with the pointer of an invalid field. */
export function decodeRequest(wire: JsonObject): ChatRequest {
  const fields = new Fields(wire);
  if (fields.has('thread')) throw threadError(fields.pointer('thread'));
  if (fields.has('container')) throw storedObjectError(fields.pointer('container'));
  const pointers: ChatRequest['pointers'] = {};
  const request: ChatRequest = {
    model: fields.requiredString('model'),
    stream: fields.boolean('stream') ?? false,
    choices: 1,
    messages: [...readSystem(fields), ...readMessages(fields)],
    tools: readTools(fields),
    stop: fields.strings('stop_sequences') ?? [],
    ...readScalars(fields, pointers),
    pointers,
    extras: [],
    shape: {},
  };
  request.extras = fields.leftovers().map((leftover) => ({ dialect: NAME, ...leftover }));
  return request;
}

/** The failure after which Anthropic's SDKs send the whole conversation instead of a stored thread's id. */
function threadError(at: string): GatewayError {
  const message = `${at} names something that is stored at a provider. Send the whole conversation instead.`;
  const formatCode = 'thread_unsupported_request';
  return new GatewayError('invalid_request', message, { parameter: at, formatCode });
}

function readSystem(fields: Fields): Message[] {
  const system = fields.take('system');
  const at = fields.pointer('system');
  if (system === undefined) return [];
  if (typeof system === 'string')
    return [{ role: 'system', parts: [{ kind: 'text', text: system, at }], at }];
  const parts = (fields.objects('system') ?? []).map((block) => {
    block.ignore('type');
    return {
      kind: 'text' as const,
      text: block.requiredString('text'),
      at: block.at,
      ...readCacheControl(block),
    };
  });
  return parts.length === 0 ? [] : [{ role: 'system', parts, at }];
}

function readScalars(fields: Fields, pointers: ChatRequest['pointers']): Partial<ChatRequest> {
  const scalars: Partial<ChatRequest> = {};
  const keep = scalarKeeper(scalars, pointers);
  const outputConfig = fields.object('output_config');
  const legacyFormat = fields.object('output_format');
  const format = outputConfig?.object('format') ?? legacyFormat;
  keep('maxOutputTokens', fields.integer('max_tokens'), '/max_tokens');
  keep('temperature', fields.number('temperature'), '/temperature');
  keep('topP', fields.number('top_p'), '/top_p');
  keep('topK', fields.integer('top_k'), '/top_k');
  keep('serviceTier', fields.word('service_tier', READ_REQUEST_TIERS), '/service_tier');
  keep('user', fields.object('metadata')?.string('user_id'), '/metadata/user_id');
  keep('format', format ? readFormat(format) : undefined, format?.at ?? '');
  keep(
    'reasoning',
    readReasoning(fields, outputConfig),
    fields.has('thinking') ? '/thinking' : '/output_config/effort',
  );
  const toolChoice = fields.object('tool_choice');
  if (toolChoice) {
    keep('toolChoice', readToolChoice(toolChoice), toolChoice.at);
    const isSerial = toolChoice.boolean('disable_parallel_tool_use');
    const pointer = toolChoice.pointer('disable_parallel_tool_use');
    keep('parallelToolCalls', isSerial === undefined ? undefined : !isSerial, pointer);
  }
  if (fields.has('stop_sequences')) pointers.stop = '/stop_sequences';
  return scalars;
}

function readFormat(fields: Fields): AnswerFormat {
  if (fields.requiredString('type') !== 'json_schema')
    throw fieldError(fields.pointer('type'), 'json_schema');
  const schema = fields.object('schema');
  schema?.ignoreAll();
  return { kind: 'schema', schema: schema?.value ?? {} };
}

function readReasoning(fields: Fields, outputConfig: Fields | undefined): Reasoning | undefined {
  const thinking = fields.object('thinking');
  const givenEffort = outputConfig?.string('effort');
  const effort = EFFORTS.find((known) => known === givenEffort);
  const type = thinking?.string('type');
  const budget = thinking?.integer('budget_tokens');
  const display = thinking?.string('display');
  if (type === 'disabled') return { effort: 'none' };
  if (!thinking && givenEffort === undefined) return undefined;
  return {
    ...(effort === undefined ? {} : { effort }),
    ...(budget === undefined ? {} : { budget }),
    ...(type === 'adaptive' ? { adaptive: true } : {}),
    ...(display === undefined ? {} : { visible: display !== 'omitted' }),
  };
}

function readToolChoice(fields: Fields): ToolChoice {
  switch (fields.requiredString('type')) {
    case 'auto':
      return 'auto';
    case 'none':
      return 'none';
    case 'any':
      return 'required';
    case 'tool':
      return { name: fields.requiredString('name') };
    default:
      throw fieldError(fields.pointer('type'), 'auto, any, tool or none');
  }
}

function readTools(fields: Fields): Tool[] {
  const servers = (fields.objects('mcp_servers') ?? []).map((server, index): Tool => {
    server.ignoreAll();
    return {
      kind: 'builtin',
      dialect: NAME,
      value: { mcp_server: server.value },
      at: pointTo('/mcp_servers', index),
    };
  });
  return [...(fields.objects('tools') ?? []).map(readTool), ...servers];
}

/** The server-side tools that other formats have, too, by the shape of their type. */
const BUILTINS = [
  [/^web_search_/, 'web-search'],
  [/^web_fetch_/, 'web-fetch'],
  [/^code_execution_/, 'code-execution'],
] as const;

function readTool(fields: Fields): Tool {
  const type = fields.string('type');
  if (type !== undefined && type !== 'custom') return readBuiltin(fields, type);
  const schema = fields.object('input_schema');
  schema?.ignoreAll();
  const strict = fields.boolean('strict');
  return {
    kind: 'function',
    name: fields.requiredString('name'),
    description: fields.string('description') ?? '',
    at: fields.at,
    ...(schema ? { parameters: schema.value } : {}),
    ...(strict === undefined ? {} : { strict }),
    ...readCacheControl(fields),
  };
}

function readBuiltin(fields: Fields, type: string): Tool {
  const builtin = BUILTINS.find(([shape]) => shape.test(type))?.[1];
  const allowedDomains = fields.strings('allowed_domains');
  const blockedDomains = fields.strings('blocked_domains');
  fields.ignoreAll();
  return {
    kind: 'builtin',
    dialect: NAME,
    value: fields.value,
    at: fields.at,
    ...(builtin ? { builtin } : {}),
    ...(allowedDomains ? { allowedDomains } : {}),
    ...(blockedDomains ? { blockedDomains } : {}),
  };
}
