/** Encodes requests for upstreams of the generative language format. */
import type { ChatRequest, Message, Part, ScalarName, Tool } from '../canonical.ts';
import { wrapCustomTool } from '../custom-tools.ts';
import type { UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { budgetOf, effortOf, isReasoningWanted } from '../effort.ts';
import { withoutUndefined } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { fitsOpenApi, hasProperties } from './schema.ts';
import { argumentsOf } from '../tool-calls.ts';
import { LEVELS, NAME, NO_SIGNATURE, REQUEST_TIERS, WIRE_MODALITIES, writeMedia } from './wire.ts';

/** Models that take a thinking level, not a budget. https://ai.google.dev/gemini-api/docs/thinking */
const TAKES_LEVELS = /gemini-([3-9]|\d\d)/;
/** The largest thinking budget that all thinking models accept, in tokens. */
const BUDGET_MAX = 24_576;

/** The path of a request; a stream is requested as server-sent events. */
export function pathFor(model: string, stream: boolean): string {
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return `/models/${encodeURIComponent(model)}:${verb}`;
}

/** Encodes the request for the upstream's model `model`. */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
  drops.cacheMarks(request);
  drops.authorNames(request);
  const system = request.messages.filter(({ role }) => role === 'system' || role === 'developer');
  const instruction = system.flatMap(({ parts }) => writeParts(parts, drops));
  const contents = writeContents(request.messages, { drops, needsSignatures: TAKES_LEVELS.test(model) });
  const tools = writeTools(request.tools, drops);
  const toolChoice = writeToolChoice(request, drops);
  const config = writeConfig(request, model, drops);
  const tier = request.serviceTier && REQUEST_TIERS[request.serviceTier];
  if (!tier) drops.scalar(request, 'serviceTier');
  // A request needs content: instructions without a conversation become a user message.
  const hasContents = contents.length > 0;
  const body: JsonObject = {
    contents: hasContents ? contents : [{ role: 'user', parts: instruction }],
    ...(instruction.length > 0 && hasContents ? { systemInstruction: { parts: instruction } } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(toolChoice ? { toolConfig: { functionCallingConfig: toolChoice } } : {}),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...(tier ? { serviceTier: tier } : {}),
    ...drops.extras(request, NAME),
  };
  return { path: pathFor(model, request.stream), body, headers: {}, dropped: drops.list };
}

interface ContentOptions {
  drops: Drops;
  /** Whether the model refuses tool calls without a signature. */
  needsSignatures: boolean;
}

/** Encodes `contents`. Merges consecutive messages of one role and puts tool results first. */
function writeContents(messages: Message[], { drops, needsSignatures }: ContentOptions): JsonObject[] {
  const contents: { role: string; results: JsonObject[]; parts: JsonObject[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') continue;
    const role = message.role === 'assistant' ? 'model' : 'user';
    let content = contents.at(-1);
    if (content?.role !== role) {
      content = { role, results: [], parts: [] };
      contents.push(content);
    }
    let needsSignature = needsSignatures && role === 'model';
    for (const part of message.parts) {
      const written = writePart(part, drops);
      const isCall = part.kind === 'tool-call';
      // Gemini 3 refuses a message whose first tool call has no signature.
      if (isCall && needsSignature && written[0] && !written[0].thoughtSignature)
        written[0].thoughtSignature = NO_SIGNATURE;
      if (isCall) needsSignature = false;
      (part.kind === 'tool-result' ? content.results : content.parts).push(...written);
    }
  }
  return contents
    .map(({ role, results, parts }) => ({ role, parts: [...results, ...parts] }))
    .filter(({ parts }) => parts.length > 0);
}

function writeParts(parts: Part[], drops: Drops): JsonObject[] {
  return parts.flatMap((part) => writePart(part, drops));
}

function writePart(part: Part, drops: Drops): JsonObject[] {
  const signature =
    'seal' in part && part.seal?.dialect === NAME ? { thoughtSignature: part.seal.value } : {};
  switch (part.kind) {
    case 'text':
      return part.text || 'thoughtSignature' in signature ? [{ text: part.text, ...signature }] : [];
    case 'refusal':
      return [{ text: part.text }];
    case 'tool-call':
      return [{ functionCall: { id: part.id, name: part.name, args: argumentsOf(part) }, ...signature }];
    case 'tool-result':
      return writeResult(part, drops);
    case 'reasoning':
      // The provider accepts only its own thoughts.
      if (part.seal?.dialect === NAME) return [{ text: part.text, thought: true, ...signature }];
      drops.add(part.at);
      return [];
    case 'media':
      drops.mediaBut(part.media);
      return [writeMedia(part.media)];
    case 'native':
      if (part.dialect !== NAME) drops.add(part.at);
      return part.dialect === NAME ? [part.value] : [];
  }
}

/** Encodes a tool result under the documented key. Its media follow as parts, which all models read. */
function writeResult(result: Extract<Part, { kind: 'tool-result' }>, drops: Drops): JsonObject[] {
  const texts = result.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const others = result.parts.filter(({ kind }) => kind !== 'text');
  const response = { [result.errorAt ? 'error' : 'output']: texts.join('\n') };
  return [
    { functionResponse: { id: result.id, name: result.name || 'tool', response } },
    ...writeParts(others, drops),
  ];
}

function writeTools(tools: Tool[], drops: Drops): JsonObject[] {
  const functions = tools.flatMap((tool) => (tool.kind === 'builtin' ? [] : [writeFunction(tool)]));
  const builtins = tools.flatMap((tool) =>
    tool.kind === 'builtin' ? writeBuiltin(tool, { drops, hasFunctions: functions.length > 0 }) : [],
  );
  return [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...builtins];
}

function writeFunction(tool: Exclude<Tool, { kind: 'builtin' }>): JsonObject {
  const { name, description, parameters } = tool.kind === 'custom' ? wrapCustomTool(tool) : tool;
  return { name, ...(description ? { description } : {}), ...writeParameters(parameters) };
}

function writeParameters(schema: JsonObject | undefined): JsonObject {
  if (
    !schema ||
    (schema.type === 'object' && !hasProperties(schema) && schema.$ref === undefined && !schema.anyOf)
  )
    return {};
  return fitsOpenApi(schema) ? { parameters: schema } : { parametersJsonSchema: schema };
}

/** Google's server-side tools. */
const BUILTINS = {
  'web-search': 'googleSearch',
  'web-fetch': 'urlContext',
  'code-execution': 'codeExecution',
} as const;

/**
 * Encodes a server-side tool. One of another provider is replaced only in requests without functions,
 * because many models refuse both together.
 */
function writeBuiltin(
  tool: Extract<Tool, { kind: 'builtin' }>,
  { drops, hasFunctions }: { drops: Drops; hasFunctions: boolean },
): JsonObject[] {
  if (tool.dialect === NAME) return [tool.value];
  if (tool.builtin && !hasFunctions) return [{ [BUILTINS[tool.builtin]]: {} }];
  drops.add(tool.at);
  return [];
}

function writeToolChoice(request: ChatRequest, drops: Drops): JsonObject | undefined {
  const { toolChoice, tools } = request;
  const names = tools.flatMap((tool) => (tool.kind === 'builtin' ? [] : [tool.name]));
  if (toolChoice === undefined) return undefined;
  const wanted =
    typeof toolChoice === 'string' ? [] : 'name' in toolChoice ? [toolChoice.name] : toolChoice.allowed;
  const allowed = wanted.filter((name) => names.includes(name));
  if (names.length === 0 || (wanted.length > 0 && allowed.length === 0)) {
    drops.scalar(request, 'toolChoice');
    return undefined;
  }
  if (toolChoice === 'none') return { mode: 'NONE' };
  if (toolChoice === 'auto') return { mode: 'AUTO' };
  if (toolChoice === 'required') return { mode: 'ANY' };
  const isForced = 'name' in toolChoice || toolChoice.mode === 'required';
  return { mode: isForced ? 'ANY' : 'VALIDATED', allowedFunctionNames: allowed };
}

/** Scalars that this format can carry. */
const CARRIED: readonly ScalarName[] = [
  'choices',
  'toolChoice',
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'stop',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'logprobs',
  'reasoning',
  'format',
  'modalities',
  'serviceTier',
];

function writeConfig(request: ChatRequest, model: string, drops: Drops): JsonObject {
  drops.allScalarsBut(request, CARRIED);
  const { format, logprobs, choices, stop } = request;
  return withoutUndefined({
    candidateCount: choices > 1 ? choices : undefined,
    maxOutputTokens: request.maxOutputTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    seed: request.seed,
    presencePenalty: request.presencePenalty,
    frequencyPenalty: request.frequencyPenalty,
    stopSequences: stop.length > 0 ? stop : undefined,
    responseLogprobs: logprobs ? true : undefined,
    logprobs: logprobs && logprobs.top > 0 ? logprobs.top : undefined,
    responseModalities: request.modalities?.map((kind) => WIRE_MODALITIES[kind]),
    responseMimeType:
      format === undefined ? undefined : format.kind === 'text' ? 'text/plain' : 'application/json',
    responseJsonSchema: format?.kind === 'schema' ? format.schema : undefined,
    thinkingConfig: writeThinking(request, model),
  });
}

function writeThinking({ reasoning }: ChatRequest, model: string): JsonObject | undefined {
  if (!reasoning) return undefined;
  const isOn = isReasoningWanted(reasoning);
  const visible = isOn && reasoning.visible !== false ? { includeThoughts: true } : {};
  if (TAKES_LEVELS.test(model)) {
    const level = isOn ? effortOf(reasoning, LEVELS) : 'minimal';
    return { ...(level ? { thinkingLevel: level } : {}), ...visible };
  }
  const budget = isOn ? budgetOf(reasoning) : 0;
  return { thinkingBudget: budget === undefined ? -1 : Math.min(budget, BUDGET_MAX), ...visible };
}
