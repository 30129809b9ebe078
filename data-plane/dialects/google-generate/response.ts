/** Whole answers of the generative language format, both ways. */
import { collect } from '../answer.ts';
import type { Block, ChatRequest, ChatResponse, Choice } from '../canonical.ts';
import { parseObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { writeSeal } from '../seals.ts';
import { unreadableAnswer } from '../upstream-errors.ts';
import { streamDecoder } from './upstream-stream.ts';
import { NAME, finishWord, writeCitation, writeLogprobs, writeMedia, writeUsage } from './wire.ts';

/** The answer as a `GenerateContentResponse`. */
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
    finishReason: finishWord(finish),
    index,
    ...(citations.length > 0 ? { groundingMetadata: { groundingChunks: citations.map(writeCitation) } } : {}),
    ...(logprobs.length > 0 ? { logprobsResult: writeLogprobs(logprobs) } : {}),
  };
}

/** The parts that say a whole block. */
export function writeBlock(block: Block): JsonObject[] {
  const signature = block.seal ? { thoughtSignature: writeSeal(block.seal, NAME) } : {};
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return block.text || block.seal ? [{ text: block.text, ...signature }] : [];
    case 'reasoning':
      return [{ text: block.text, thought: true, ...signature }];
    case 'tool-call': {
      const args = (block.custom ? undefined : parseObject(block.text)) ?? { input: block.text };
      return [{ functionCall: { id: block.id, name: block.name, args }, ...signature }];
    }
    case 'media': {
      const media = writeMedia(block.media);
      return [...(media ? [{ ...media, ...signature }] : []), ...(block.text ? [{ text: block.text }] : [])];
    }
    case 'native':
      return block.dialect === NAME ? [block.value] : [];
  }
}

/**
 * Reads an upstream's answer, which is a stream of one chunk; a list of chunks is what streams without
 * `alt=sse` are. Throws `upstream_failed` or `upstream_busy` for an error body or one that is no answer.
 */
export function decodeResponse(wire: unknown): ChatResponse {
  const chunks: unknown[] = Array.isArray(wire) ? wire : [wire];
  if (chunks.length === 0) throw unreadableAnswer('no chunks');
  const decoder = streamDecoder(1);
  return collect([
    ...chunks.flatMap((chunk) => decoder.push({ data: JSON.stringify(chunk) })),
    ...decoder.end(),
  ]);
}
