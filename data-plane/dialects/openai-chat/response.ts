/** Encodes and decodes whole answers of chat completions. */
import { NO_TOKENS } from '../canonical.ts';
import type {
  Block,
  BlockHead,
  ChatRequest,
  ChatResponse,
  Choice,
  Citation,
  FinishReason,
} from '../canonical.ts';
import { unwrapBlocks } from '../custom-tools.ts';
import { writeJson } from '../exact-json.ts';
import { isObject, numberOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { mediaFromUrl, urlOf } from '../media.ts';
import { nowSeconds, writeUsage } from '../openai-answers.ts';
import { generatedCallId } from '../tool-calls.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import { OPENAI_READ_TIERS, wordOf, writeTier } from '../vocabularies.ts';
import { joinThoughts, readReasoning, sealOf, thinkingText, writeDetail } from './reasoning.ts';
import {
  NAME,
  readCitation,
  readFinish,
  readLogprobs,
  readUsage,
  writeCitation,
  writeFinish,
  writeLogprobs,
} from './wire.ts';
import type { WireMessage, WireToolCall } from './wire.ts';

/** Encodes an answer as a `chat.completion` object. */
export function encodeResponse(response: ChatResponse, request: ChatRequest): JsonObject {
  const usage = writeUsage(response);
  return {
    id: response.id || 'chatcmpl-0',
    object: 'chat.completion',
    created: nowSeconds(),
    model: response.model || request.model,
    choices: response.choices.map((choice, index) => ({
      index,
      message: writeMessage(unwrapBlocks(choice.blocks, request), request),
      logprobs: writeLogprobs(choice.blocks.find(({ logprobs }) => logprobs)?.logprobs),
      finish_reason: writeFinishFor(
        request.shape,
        choice.finish,
        choice.blocks.some(({ kind }) => kind === 'refusal'),
      ),
    })),
    ...(usage ? { usage } : {}),
    ...writeTier(response),
  };
}

/**
 * Encodes `finish_reason`: like `writeFinish`, but `function_call` for clients of the deprecated
 * `functions`.
 */
export function writeFinishFor(
  shape: ChatRequest['shape'],
  finish: FinishReason,
  hasRefusalText: boolean,
): string {
  const finishReason = writeFinish(finish, hasRefusalText);
  return finishReason === 'tool_calls' && shape.legacyFunctions ? 'function_call' : finishReason;
}

function writeMessage(blocks: Block[], request: ChatRequest): WireMessage {
  const ofKind = (kind: Block['kind']): Block[] => blocks.filter((block) => block.kind === kind);
  const join = (kind: Block['kind']): string =>
    ofKind(kind)
      .map(({ text }) => text)
      .join('');
  const calls = blocks.flatMap((block) => (block.kind === 'tool-call' ? [writeCall(block)] : []));
  const content = join('text') + join('media');
  const thinking = joinThoughts(ofKind('reasoning'));
  const details = blocks.flatMap((block) => writeSeal(block));
  const annotations = blocks.flatMap(({ citations }) => citations ?? []).map(writeCitation);
  const images = blocks.flatMap((block) => writeImage(block));
  const called = calls[0]?.function;
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || ofKind('refusal').length > 0) ? null : content,
    refusal: join('refusal') || null,
    ...(thinking ? { reasoning_content: thinking } : {}),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    ...(calls.length > 0 && !request.shape.legacyFunctions ? { tool_calls: calls } : {}),
    ...(called && request.shape.legacyFunctions ? { function_call: called } : {}),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(images.length > 0 ? { images } : {}),
  };
}

/** Encodes the seal of a reasoning block or tool call as `reasoning_details`; empty if it has none. */
export function writeSeal(block: Pick<Block, 'kind' | 'seal'> & { id?: string }): JsonObject[] {
  if (!block.seal || (block.kind !== 'reasoning' && block.kind !== 'tool-call')) return [];
  return [writeDetail(block.seal, block.kind === 'tool-call' ? block.id : undefined)];
}

/** Encodes an image as OpenRouter's clients expect it; empty for other blocks. */
export function writeImage(block: BlockHead): JsonObject[] {
  if (block.kind !== 'media' || block.media.type !== 'image') return [];
  return [{ type: 'image_url', image_url: { url: urlOf(block.media) } }];
}

function writeCall({ id, name, text, custom }: Extract<Block, { kind: 'tool-call' }>): WireToolCall {
  return custom
    ? { id, type: 'custom', custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } };
}

/**
 * Decodes an upstream's answer. Throws `upstream_failed` or `upstream_busy` if the body is an error or no
 * answer.
 */
export function decodeResponse(wire: unknown): ChatResponse {
  const body = isObject(wire) ? wire : {};
  const choices = objectsOf(body.choices);
  if (choices.length === 0) {
    throw isObject(body.error) ? failureInsideAnswer(errorKind(body.error)) : unreadableAnswer('no choices');
  }
  const id = textOf(body.id);
  const citations = topLevelCitations(body.citations);
  const serviceTier = wordOf(OPENAI_READ_TIERS, body.service_tier);
  const ordered = choices.length === 1 ? choices : choices.toSorted(byIndex);
  return {
    id,
    model: textOf(body.model),
    choices: ordered.map((choice, index) => readChoice(choice, { id, index, citations })),
    ...(readUsage(body.usage) ?? { tokens: NO_TOKENS }),
    ...(serviceTier ? { serviceTier } : {}),
  };
}

function byIndex(one: JsonObject, other: JsonObject): number {
  return (numberOf(one.index) ?? 0) - (numberOf(other.index) ?? 0);
}

/** Type and code of an error object inside an answer. */
export function errorKind(error: JsonObject): string {
  return `${textOf(error.type)} ${numberOf(error.code) ?? textOf(error.code)}`.trim();
}

/** Decodes Perplexity's citations, a list of URLs beside the choices. */
export function topLevelCitations(value: unknown): Citation[] {
  const entries: unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry) => {
    const url = typeof entry === 'string' ? entry : isObject(entry) ? textOf(entry.url) : '';
    return url ? [{ url }] : [];
  });
}

function readChoice(choice: JsonObject, about: { id: string; index: number; citations: Citation[] }): Choice {
  if (isObject(choice.error)) throw failureInsideAnswer(errorKind(choice.error));
  const message = isObject(choice.message) ? choice.message : {};
  const blocks = isPlainText(message)
    ? readContentPart(message.content)
    : [
        ...readThinking(message),
        ...readContent(message),
        ...readMedia(message),
        ...readCalls(message, about),
      ];
  const target = blocks.find(({ kind }) => kind === 'text');
  const citations = [
    ...objectsOf(message.annotations).flatMap((one) => readCitation(one) ?? []),
    ...about.citations,
  ];
  if (target && citations.length > 0) target.citations = citations;
  const logprobs = readLogprobs(choice.logprobs);
  if (target && logprobs) target.logprobs = logprobs;
  return {
    blocks,
    finish: readFinish(textOf(choice.finish_reason), {
      has: (kind) => blocks.some((block) => block.kind === kind),
    }),
  };
}

/** Whether a message has nothing but a text, as most have. */
function isPlainText(message: JsonObject): boolean {
  for (const name in message) {
    if (name === 'content' || name === 'role') continue;
    const value = message[name];
    if (value !== null && !(Array.isArray(value) && value.length === 0)) return false;
  }
  return typeof message.content === 'string';
}

function readThinking(message: JsonObject): Block[] {
  const { text, details } = readReasoning(message);
  return text || details.length > 0 ? [{ kind: 'reasoning', text, seal: sealOf(details) }] : [];
}

/** Decodes `content`, a text or Mistral's list of parts, and the refusal. */
function readContent({ content, refusal }: JsonObject): Block[] {
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  const blocks = parts.flatMap(readContentPart);
  return typeof refusal === 'string' && refusal ? [...blocks, { kind: 'refusal', text: refusal }] : blocks;
}

function readContentPart(part: unknown): Block[] {
  if (typeof part === 'string') return part ? [{ kind: 'text', text: part }] : [];
  if (!isObject(part)) return [];
  if (part.type === 'thinking')
    return [{ kind: 'reasoning', text: thinkingText(part.thinking), seal: sealOf([]) }];
  if (part.type === 'refusal') return [{ kind: 'refusal', text: textOf(part.refusal) }];
  return typeof part.text === 'string' ? [{ kind: 'text', text: part.text }] : [];
}

/** Decodes OpenRouter's images, a spoken answer with its transcript, and Groq's server-side tools. */
export function readMedia({ images, audio, executed_tools: executed }: JsonObject): Block[] {
  const blocks = objectsOf(images).flatMap((image): Block[] => {
    const url = isObject(image.image_url) ? textOf(image.image_url.url) : '';
    return url ? [{ kind: 'media', media: mediaFromUrl('image', url), text: '' }] : [];
  });
  if (isObject(audio) && typeof audio.data === 'string') {
    const media = { type: 'audio' as const, mediaType: 'audio/wav', source: { base64: audio.data } };
    blocks.push({ kind: 'media', media, text: textOf(audio.transcript) });
  }
  for (const value of objectsOf(executed)) blocks.push({ kind: 'native', dialect: NAME, value, text: '' });
  return blocks;
}

function readCalls(message: JsonObject, about: { id: string; index: number }): Block[] {
  const calls = objectsOf(message.tool_calls).map((call, index): Block => {
    const id = textOf(call.id) || generatedCallId(about.id, about.index, index);
    if (isObject(call.custom)) {
      return {
        kind: 'tool-call',
        id,
        name: textOf(call.custom.name),
        text: textOf(call.custom.input),
        custom: true,
      };
    }
    const called = isObject(call.function) ? call.function : {};
    return {
      kind: 'tool-call',
      id,
      name: textOf(called.name),
      text: argumentsText(called.arguments) || '{}',
    };
  });
  const legacy = message.function_call;
  if (!isObject(legacy)) return calls;
  const id = generatedCallId(about.id, about.index, calls.length);
  const text = argumentsText(legacy.arguments) || '{}';
  return [...calls, { kind: 'tool-call', id, name: textOf(legacy.name), text }];
}

/** The arguments of a tool call as JSON text; some providers send them as an object. */
export function argumentsText(value: unknown): string {
  return isObject(value) ? writeJson(value) : textOf(value);
}
