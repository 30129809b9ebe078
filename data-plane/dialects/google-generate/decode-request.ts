/** Decodes a client's generateContent request. */
import type { AnswerFormat, ChatRequest, Reasoning, Tool, ToolChoice } from '../canonical.ts';
import { EFFORTS } from '../canonical.ts';
import type { RequestPath } from '../dialect.ts';
import { Fields, fieldError, isObject, pointTo, storedObjectError } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { scalarKeeper } from '../scalars.ts';
import { readInstructions, readMessages } from './decode-messages.ts';
import { toJsonSchema } from './schema.ts';
import { NAME, READ_MODALITIES, readTier, spelling } from './wire.ts';

/**
 * Decodes a request; model and verb come from the path. Throws `invalid_request` with the pointer of an
 * invalid field.
 */
export function decodeRequest(wire: JsonObject, path: RequestPath): ChatRequest {
  const fields = new Fields(wire);
  const cached = spelling(fields, 'cachedContent');
  if (fields.has(cached)) throw storedObjectError(fields.pointer(cached));
  if (path.model === undefined) throw fieldError('model', 'named in the path');
  // Only the path selects the model.
  fields.ignore('model');
  const stream = path.stream ?? false;
  const pointers: ChatRequest['pointers'] = {};
  const request: ChatRequest = {
    model: path.model,
    stream,
    choices: 1,
    messages: [...readInstructions(fields), ...readMessages(fields)],
    tools: readTools(fields),
    stop: [],
    ...readScalars(fields, pointers),
    pointers,
    extras: [],
    shape: stream && path.query?.get('alt') !== 'sse' ? { jsonArray: true } : {},
  };
  if (request.messages.length === 0) throw fieldError('/contents', 'a non-empty list of contents');
  request.extras = fields.leftovers().map((leftover) => ({ dialect: NAME, ...leftover }));
  return request;
}

function readScalars(fields: Fields, pointers: ChatRequest['pointers']): Partial<ChatRequest> {
  const scalars: Partial<ChatRequest> = {};
  const keep = scalarKeeper(scalars, pointers);
  const config = fields.object(spelling(fields, 'generationConfig'));
  const tier = spelling(fields, 'serviceTier');
  const asked = readTier(fields.value[tier]);
  if (asked) keep('serviceTier', asked, fields.pointer(tier));
  if (asked) fields.ignore(tier);
  const labels = fields.object('labels');
  if (labels) {
    const names = Object.keys(labels.value);
    keep('metadata', Object.fromEntries(names.map((name) => [name, labels.string(name) ?? ''])), labels.at);
  }
  const toolConfig = fields.object(spelling(fields, 'toolConfig'));
  const calling = toolConfig?.object(spelling(toolConfig, 'functionCallingConfig'));
  if (calling) keep('toolChoice', readToolChoice(calling), calling.at);
  if (!config) return scalars;
  const integer = (name: string): number | undefined => config.integer(spelling(config, name));
  const number = (name: string): number | undefined => config.number(spelling(config, name));
  const at = (name: string): string => config.pointer(spelling(config, name));
  keep('choices', integer('candidateCount'), at('candidateCount'));
  keep('maxOutputTokens', integer('maxOutputTokens'), at('maxOutputTokens'));
  keep('temperature', number('temperature'), at('temperature'));
  keep('topP', number('topP'), at('topP'));
  keep('topK', number('topK'), at('topK'));
  keep('seed', integer('seed'), at('seed'));
  keep('presencePenalty', number('presencePenalty'), at('presencePenalty'));
  keep('frequencyPenalty', number('frequencyPenalty'), at('frequencyPenalty'));
  keep('stop', config.stringOrStrings(spelling(config, 'stopSequences')), at('stopSequences'));
  keep(
    'modalities',
    config.words(spelling(config, 'responseModalities'), READ_MODALITIES),
    at('responseModalities'),
  );
  const top = integer('logprobs');
  const wantsLogprobs = config.boolean(spelling(config, 'responseLogprobs'));
  keep('logprobs', wantsLogprobs ? { top: top ?? 0 } : undefined, at('responseLogprobs'));
  keep('format', readFormat(config), at('responseMimeType'));
  keep('reasoning', readReasoning(config), at('thinkingConfig'));
  return scalars;
}

function readFormat(config: Fields): AnswerFormat | undefined {
  const mime = config.string(spelling(config, 'responseMimeType'));
  const json = config.object(spelling(config, 'responseJsonSchema'));
  const own = config.object(spelling(config, 'responseSchema'));
  for (const schema of [json, own]) schema?.ignoreAll();
  if (json) return { kind: 'schema', schema: json.value };
  if (own) {
    const schema = toJsonSchema(own.value);
    return { kind: 'schema', schema: isObject(schema) ? schema : {} };
  }
  if (mime === 'application/json') return { kind: 'json' };
  return mime === 'text/plain' ? { kind: 'text' } : undefined;
}

function readReasoning(config: Fields): Reasoning | undefined {
  const thinking = config.object(spelling(config, 'thinkingConfig'));
  if (!thinking) return undefined;
  const budget = thinking.integer(spelling(thinking, 'thinkingBudget'));
  const level = thinking.string(spelling(thinking, 'thinkingLevel'))?.toLowerCase();
  const effort = EFFORTS.find((known) => known === level);
  const visible = thinking.boolean(spelling(thinking, 'includeThoughts'));
  return {
    // With a negative budget the model decides.
    ...(budget === undefined ? {} : budget < 0 ? { adaptive: true } : { budget }),
    ...(effort ? { effort } : {}),
    ...(visible === undefined ? {} : { visible }),
  };
}

function readToolChoice(fields: Fields): ToolChoice | undefined {
  const mode = fields.string('mode')?.toUpperCase();
  const names = fields.stringOrStrings(spelling(fields, 'allowedFunctionNames')) ?? [];
  const [first, ...rest] = names;
  if (mode === 'NONE') return 'none';
  if (mode === 'ANY') {
    if (first === undefined) return 'required';
    return rest.length === 0 ? { name: first } : { allowed: names, mode: 'required' };
  }
  return first === undefined ? 'auto' : { allowed: names, mode: 'auto' };
}

function readTools(fields: Fields): Tool[] {
  return (fields.objectOrObjects('tools') ?? []).flatMap((tool) => {
    const declarations = spelling(tool, 'functionDeclarations');
    const functions = (tool.objectOrObjects(declarations) ?? []).map(readFunction);
    const builtins = Object.keys(tool.value).filter((name) => name !== declarations);
    tool.ignore(...builtins);
    return [...functions, ...builtins.map((name) => readBuiltin(tool, name))];
  });
}

function readFunction(fields: Fields): Tool {
  const json = fields.object(spelling(fields, 'parametersJsonSchema'));
  const own = fields.object('parameters');
  for (const schema of [json, own]) schema?.ignoreAll();
  const parameters = json ? json.value : own ? toJsonSchema(own.value) : undefined;
  return {
    kind: 'function',
    name: fields.requiredString('name'),
    description: fields.string('description') ?? '',
    at: fields.at,
    ...(isObject(parameters) ? { parameters } : {}),
  };
}

/** The server-side tools that other formats have, too, under both spellings. */
const BUILTINS: Record<string, 'web-search' | 'web-fetch' | 'code-execution'> = {
  googleSearch: 'web-search',
  google_search: 'web-search',
  googleSearchRetrieval: 'web-search',
  google_search_retrieval: 'web-search',
  urlContext: 'web-fetch',
  url_context: 'web-fetch',
  codeExecution: 'code-execution',
  code_execution: 'code-execution',
};

/** Tools over files, documents and corpora stored in the operator's account, under all spellings. */
const STORES: ReadonlySet<string> = new Set(['fileSearch', 'file_search', 'retrieval']);

function readBuiltin(tool: Fields, name: string): Tool {
  if (STORES.has(name)) throw storedObjectError(tool.pointer(name));
  const builtin = BUILTINS[name];
  const value = { [name]: tool.value[name] };
  return {
    kind: 'builtin',
    dialect: NAME,
    value,
    at: pointTo(tool.at, name),
    ...(builtin ? { builtin } : {}),
  };
}
