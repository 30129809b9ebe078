/** A canonical request, written for an upstream that speaks the generative language format. */
import type { ChatRequest, Media, Message, Part, ScalarName, Tool } from '../canonical.ts';
import { wrapCustomTool } from '../custom-tools.ts';
import type { UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { budgetOf, effortOf, isReasoningWanted } from '../effort.ts';
import { parseObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { fitsOpenApi, hasProperties } from './schema.ts';
import { LEVELS, NAME, writeMedia } from './wire.ts';

/** Models that are told a level instead of a budget. https://ai.google.dev/gemini-api/docs/thinking */
const TAKES_LEVELS = /gemini-([3-9]|\d\d)/;
/** The largest thinking budget that every thinking model takes, in tokens. */
const BUDGET_MAX = 24_576;
/** What stands for the signature of a call that another provider's model made. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** The path of a verb; the stream comes as server-sent events. */
export function pathFor(model: string, stream: boolean): string {
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return `/models/${encodeURIComponent(model)}:${verb}`;
}

/** Writes the request. `dropped` names what this format cannot say. */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
  const system = request.messages.filter(({ role }) => role === 'system' || role === 'developer');
  const instruction = system.flatMap(({ parts }) => writeParts(parts, drops));
  const contents = writeContents(request.messages, { drops, needsSignatures: TAKES_LEVELS.test(model) });
  const tools = writeTools(request.tools, drops);
  const choice = writeChoice(request, drops);
  const config = writeConfig(request, model, drops);
  // A conversation needs a turn: instructions alone become it.
  const isAlone = contents.length === 0;
  const body: JsonObject = {
    contents: isAlone ? [{ role: 'user', parts: instruction }] : contents,
    ...(instruction.length > 0 && !isAlone ? { systemInstruction: { parts: instruction } } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { toolConfig: { functionCallingConfig: choice } } : {}),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...drops.extras(request, NAME),
  };
  return { path: pathFor(model, request.stream), body, headers: {}, dropped: drops.list };
}

interface ContentOptions {
  drops: Drops;
  needsSignatures: boolean;
}

/** Neighbours of one role are one content; the results of calls come first in theirs. */
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
    if (message.name !== undefined) drops.add(`${message.at}/name`);
    let mustSign = needsSignatures && role === 'model';
    for (const part of message.parts) {
      const written = writePart(part, drops);
      const isCall = part.kind === 'tool-call';
      // Gemini 3 refuses a first call without a signature.
      if (isCall && mustSign && written[0] && !written[0].thoughtSignature)
        written[0].thoughtSignature = NO_SIGNATURE;
      if (isCall) mustSign = false;
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
  if (part.cache) drops.add(`${part.at}/cache_control`);
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
      // Only thoughts of this provider are thoughts to it.
      if (part.seal?.dialect === NAME) return [{ text: part.text, thought: true, ...signature }];
      drops.add(part.at);
      return [];
    case 'media':
      return mediaParts(part.media, part.at, drops);
    case 'native':
      if (part.dialect !== NAME) drops.add(part.at);
      return part.dialect === NAME ? [part.value] : [];
  }
}

function mediaParts(media: Media, at: string, drops: Drops): JsonObject[] {
  const written = writeMedia(media);
  if (!written) drops.add(at);
  return written ? [written] : [];
}

function argumentsOf({ text, custom }: { text: string; custom?: boolean }): JsonObject {
  return (custom ? undefined : parseObject(text)) ?? { input: text };
}

/** The result under the key that the documentation names; media stand beside it, which every model reads. */
function writeResult(result: Extract<Part, { kind: 'tool-result' }>, drops: Drops): JsonObject[] {
  const texts = result.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const others = result.parts.filter(({ kind }) => kind !== 'text');
  for (const part of result.parts)
    if (part.kind === 'text' && part.cache) drops.add(`${part.at}/cache_control`);
  const response = { [result.errorAt ? 'error' : 'output']: texts.join('\n') };
  return [
    { functionResponse: { id: result.id, name: result.name || 'tool', response } },
    ...writeParts(others, drops),
  ];
}

function writeTools(tools: Tool[], drops: Drops): JsonObject[] {
  const functions = tools.flatMap((tool) => (tool.kind === 'builtin' ? [] : [writeFunction(tool, drops)]));
  const builtins = tools.flatMap((tool) =>
    tool.kind === 'builtin' ? writeBuiltin(tool, { drops, isAlone: functions.length === 0 }) : [],
  );
  return [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...builtins];
}

function writeFunction(tool: Exclude<Tool, { kind: 'builtin' }>, drops: Drops): JsonObject {
  if (tool.cache) drops.add(`${tool.at}/cache_control`);
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

const BUILTINS = {
  'web-search': 'googleSearch',
  'web-fetch': 'urlContext',
  'code-execution': 'codeExecution',
} as const;

/**
 * Other providers' tools find their like here only where no functions are offered: many models refuse both at
 * once.
 */
function writeBuiltin(
  tool: Extract<Tool, { kind: 'builtin' }>,
  { drops, isAlone }: { drops: Drops; isAlone: boolean },
): JsonObject[] {
  if (tool.dialect === NAME) return [tool.value];
  if (tool.builtin && isAlone) return [{ [BUILTINS[tool.builtin]]: {} }];
  drops.add(tool.at);
  return [];
}

function writeChoice(request: ChatRequest, drops: Drops): JsonObject | undefined {
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
];

function writeConfig(request: ChatRequest, model: string, drops: Drops): JsonObject {
  drops.allScalarsBut(request, CARRIED);
  const { format, logprobs, choices, stop } = request;
  const config: JsonObject = {
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
    responseModalities: request.modalities?.map((kind) => kind.toUpperCase()),
    responseMimeType:
      format === undefined ? undefined : format.kind === 'text' ? 'text/plain' : 'application/json',
    responseJsonSchema: format?.kind === 'schema' ? format.schema : undefined,
    thinkingConfig: writeThinking(request, model),
  };
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}

function writeThinking({ reasoning }: ChatRequest, model: string): JsonObject | undefined {
  if (!reasoning) return undefined;
  const wanted = isReasoningWanted(reasoning);
  const shown = wanted && reasoning.visible !== false ? { includeThoughts: true } : {};
  if (TAKES_LEVELS.test(model)) {
    const level = wanted ? effortOf(reasoning, LEVELS) : 'minimal';
    return { ...(level ? { thinkingLevel: level } : {}), ...shown };
  }
  const budget = wanted ? budgetOf(reasoning) : 0;
  return { thinkingBudget: budget === undefined ? -1 : Math.min(budget, BUDGET_MAX), ...shown };
}
