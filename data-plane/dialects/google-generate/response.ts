/** Encodes and decodes whole answers of the generative language format. */
import { collect } from '../answer.ts';
import type { Block, ChatRequest, ChatResponse, Choice } from '../canonical.ts';
import { writeJson } from '../exact-json.ts';
import type { JsonObject } from '../fields.ts';
import { writeSeal } from '../seals.ts';
import { argumentsOf } from '../tool-calls.ts';
import { unreadableAnswer } from '../upstream-errors.ts';
import { streamDecoder } from './decode-stream.ts';
import { NAME, writeCitation, writeFinish, writeLogprobs, writeMedia, writeUsage } from './wire.ts';

/** Encodes an answer as a `GenerateContentResponse`. */
export function encodeResponse(response: ChatResponse, request: ChatRequest): JsonObject {
  return {
    candidates: response.choices.map((choice, index) => writeCandidate(choice, index)),
    usageMetadata: writeUsage(response),
    modelVersion: response.model || request.model,
    responseId: response.id,
  };
}

function writeCandidate({ blocks, finish }: Choice, index: number): JsonObject {
  const logprobs = blocks.flatMap((block) => block.logprobs ?? []);
  const citations = blocks.flatMap((block) => block.citations ?? []);
  return {
    content: { parts: blocks.flatMap(writeBlock), role: 'model' },
    finishReason: writeFinish(finish),
    index,
    ...(citations.length > 0 ? { groundingMetadata: { groundingChunks: citations.map(writeCitation) } } : {}),
    ...(logprobs.length > 0 ? { logprobsResult: writeLogprobs(logprobs) } : {}),
  };
}

/** Encodes a whole block as parts. */
export function writeBlock(block: Block): JsonObject[] {
  const signature = block.seal ? { thoughtSignature: writeSeal(block.seal, NAME) } : {};
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return block.text || block.seal ? [{ text: block.text, ...signature }] : [];
    case 'reasoning':
      return [{ text: block.text, thought: true, ...signature }];
    case 'tool-call':
      return [{ functionCall: { id: block.id, name: block.name, args: argumentsOf(block) }, ...signature }];
    case 'media':
      return [{ ...writeMedia(block.media), ...signature }, ...(block.text ? [{ text: block.text }] : [])];
    case 'native':
      return block.dialect === NAME ? [block.value] : [];
  }
}

/**
 * Decodes an upstream's answer as a stream of one chunk, or of several if it is a list (streams without
 * `alt=sse`). Throws `upstream_failed` or `upstream_busy` if the body is an error or no answer.
 */
export function decodeResponse(wire: unknown): ChatResponse {
  const chunks: unknown[] = Array.isArray(wire) ? wire : [wire];
  if (chunks.length === 0) throw unreadableAnswer('no chunks');
  const decoder = streamDecoder(1);
  return collect([...chunks.flatMap((chunk) => decoder.push({ data: writeJson(chunk) })), ...decoder.end()]);
}
