/**
 * Bedrock's Converse for tests: turns its requests into messages, and answers in the messages format into
 * those of Converse. Written from the types of the AWS SDK, independently of the dialect.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../data-plane/dialects/fields.ts';
import type { JsonObject } from '../data-plane/dialects/fields.ts';
import { parseJson, writeJson } from '../data-plane/dialects/exact-json.ts';

/** Limit of answers to requests that name none. */
const MAX_TOKENS = 4_096;

/** The request in the messages format. Throws if a member is unknown. */
export function asMessages(
  body: JsonObject,
  { model, stream }: { model: string; stream: boolean },
): JsonObject {
  const { messages, system, inferenceConfig, toolConfig, outputConfig, serviceTier, ...rest } = body;
  const {
    additionalModelRequestFields: fields,
    additionalModelResponseFieldPaths: _paths,
    ...unknown
  } = rest;
  if (Object.keys(unknown).length > 0) throw new Error(`unknown: ${Object.keys(unknown).join(', ')}`);
  const { maxTokens, temperature, topP, stopSequences } = objectOf(inferenceConfig);
  return {
    model,
    max_tokens: numberOf(maxTokens) ?? MAX_TOKENS,
    messages: objectsOf(messages).map(({ role, content }) => ({ role, content: blocksOf(content) })),
    ...(stream ? { stream } : {}),
    ...(system === undefined ? {} : { system: blocksOf(system) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stopSequences === undefined ? {} : { stop_sequences: stopSequences }),
    ...toolsOf(objectOf(toolConfig)),
    ...formatOf(objectOf(outputConfig)),
    ...(objectOf(serviceTier).type === 'default' ? { service_tier: 'standard_only' } : {}),
    ...objectOf(fields),
  };
}

/** Blocks with marks of cached prefixes on the block before each `cachePoint`. */
function blocksOf(content: unknown): JsonObject[] {
  const blocks: JsonObject[] = [];
  for (const block of objectsOf(content)) {
    const last = blocks.at(-1);
    if (isObject(block.cachePoint) && last) last.cache_control = cacheControl(block.cachePoint);
    // The messages format has no such media.
    else if (!isObject(block.audio) && !isObject(block.video)) blocks.push(blockOf(block));
  }
  return blocks;
}

function cacheControl({ ttl }: JsonObject): JsonObject {
  return { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) };
}

function blockOf(block: JsonObject): JsonObject {
  const [[kind, value] = ['', undefined], ...others] = Object.entries(block);
  if (others.length > 0) throw new Error(`a block of two kinds: ${JSON.stringify(Object.keys(block))}`);
  const held = objectOf(value);
  switch (kind) {
    case 'text':
      return { type: 'text', text: value };
    case 'toolUse':
      return { type: 'tool_use', id: held.toolUseId, name: held.name, input: held.input };
    case 'toolResult':
      return {
        type: 'tool_result',
        tool_use_id: held.toolUseId,
        content: blocksOf(held.content),
        ...(held.status === 'error' ? { is_error: true } : {}),
      };
    case 'reasoningContent':
      return thinkingOf(held);
    case 'image':
      return { type: 'image', source: { ...base64Of(held), media_type: `image/${textOf(held.format)}` } };
    case 'document':
      return { type: 'document', title: held.name, source: documentSource(held) };
    default:
      throw new Error(`unknown block: ${kind}`);
  }
}

function thinkingOf({ reasoningText, redactedContent }: JsonObject): JsonObject {
  if (redactedContent !== undefined) return { type: 'redacted_thinking', data: redactedContent };
  const { text, signature } = objectOf(reasoningText);
  return { type: 'thinking', thinking: text, signature };
}

function base64Of({ source }: JsonObject): JsonObject {
  return { type: 'base64', data: objectOf(source).bytes };
}

function documentSource(document: JsonObject): JsonObject {
  if (document.format === 'pdf') return { ...base64Of(document), media_type: 'application/pdf' };
  const bytes = textOf(objectOf(document.source).bytes);
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(bytes, 'base64').toString('utf8') };
}

function toolsOf({ tools, toolChoice }: JsonObject): JsonObject {
  if (tools === undefined) return {};
  const written: JsonObject[] = [];
  for (const { toolSpec, cachePoint } of objectsOf(tools)) {
    const last = written.at(-1);
    if (isObject(cachePoint) && last) last.cache_control = cacheControl(cachePoint);
    const { name, description, inputSchema, strict } = objectOf(toolSpec);
    if (isObject(toolSpec))
      written.push({
        name,
        ...(description === undefined ? {} : { description }),
        input_schema: objectOf(inputSchema).json,
        ...(strict === undefined ? {} : { strict }),
      });
  }
  const [[type, value] = ['', undefined]] = Object.entries(objectOf(toolChoice));
  return { tools: written, ...(type === '' ? {} : { tool_choice: { type, ...objectOf(value) } }) };
}

function formatOf({ textFormat }: JsonObject): JsonObject {
  if (!isObject(textFormat)) return {};
  const { schema } = objectOf(objectOf(textFormat.structure).jsonSchema);
  return { output_config: { format: { type: 'json_schema', schema: parseJson(textOf(schema)) } } };
}

const STOP_REASONS: Record<string, string> = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  refusal: 'content_filtered',
  model_context_window_exceeded: 'model_context_window_exceeded',
};

/** The answer of Converse with the content of a message. */
export function asConverse(message: JsonObject): JsonObject {
  return {
    output: { message: { role: 'assistant', content: objectsOf(message.content).flatMap(answerBlock) } },
    ...stopOf(message),
    usage: usageOf(objectOf(message.usage)),
    metrics: { latencyMs: 7 },
  };
}

function answerBlock(block: JsonObject): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ text: block.text }];
    case 'thinking': {
      const { thinking: text, signature } = block;
      return [{ reasoningContent: { reasoningText: { text, ...(signature ? { signature } : {}) } } }];
    }
    case 'redacted_thinking':
      return [{ reasoningContent: { redactedContent: block.data } }];
    case 'tool_use':
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: block.input } }];
    default:
      return [];
  }
}

function stopOf({ stop_reason: reason, stop_sequence: sequence }: JsonObject): JsonObject {
  return {
    stopReason: STOP_REASONS[textOf(reason)] ?? 'end_turn',
    ...(sequence ? { additionalModelResponseFields: { stop_sequence: sequence } } : {}),
  };
}

function usageOf(usage: JsonObject): JsonObject {
  const [input, output, read, written] = [
    usage.input_tokens,
    usage.output_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation_input_tokens,
  ].map((value) => numberOf(value) ?? 0);
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: (input ?? 0) + (output ?? 0) + (read ?? 0) + (written ?? 0),
    ...(read ? { cacheReadInputTokens: read } : {}),
    ...(written ? { cacheWriteInputTokens: written } : {}),
  };
}

/** An event of the stream of Converse: its name and its payload. */
export type ConverseEvent = [name: string, payload: JsonObject];

/** Turns the events of a messages stream into those of Converse, one after the other. */
export class ConverseEvents {
  #usage: JsonObject = {};

  push(event: JsonObject): ConverseEvent[] {
    const index = { contentBlockIndex: event.index };
    switch (event.type) {
      case 'message_start':
        this.#usage = objectOf(objectOf(event.message).usage);
        return [['messageStart', { role: 'assistant' }]];
      case 'content_block_start': {
        const { type, id, name, data, text } = objectOf(event.content_block);
        if (type === 'tool_use')
          return [['contentBlockStart', { start: { toolUse: { toolUseId: id, name } }, ...index }]];
        if (type === 'redacted_thinking')
          return [delta({ reasoningContent: { redactedContent: data } }, index)];
        return type === 'text' && text ? [delta({ text }, index)] : [];
      }
      case 'content_block_delta':
        return deltaOf(objectOf(event.delta), index);
      case 'content_block_stop':
        return [['contentBlockStop', index]];
      case 'message_delta':
        return this.#stop(event);
      default:
        return [];
    }
  }

  #stop(event: JsonObject): ConverseEvent[] {
    this.#usage = { ...this.#usage, ...objectOf(event.usage) };
    const reason = objectOf(event.delta);
    if (typeof reason.stop_reason !== 'string') return [];
    return [
      ['messageStop', stopOf(reason)],
      ['metadata', { usage: usageOf(this.#usage), metrics: { latencyMs: 7 } }],
    ];
  }
}

function delta(value: JsonObject, index: JsonObject): ConverseEvent {
  return ['contentBlockDelta', { delta: value, ...index }];
}

function deltaOf(value: JsonObject, index: JsonObject): ConverseEvent[] {
  switch (value.type) {
    case 'text_delta':
      return [delta({ text: value.text }, index)];
    case 'thinking_delta':
      return [delta({ reasoningContent: { text: value.thinking } }, index)];
    case 'signature_delta':
      return [delta({ reasoningContent: { signature: value.signature } }, index)];
    case 'input_json_delta':
      return [delta({ toolUse: { input: value.partial_json } }, index)];
    default:
      return [];
  }
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

/** A message of AWS's binary event stream, by the codec of the AWS SDK; an exception if it is one. */
export function streamMessage(name: string, payload: JsonObject, type = 'event'): Buffer {
  const headers = Object.fromEntries(
    Object.entries({
      [`:${type}-type`]: name,
      ':content-type': 'application/json',
      ':message-type': type,
    }).map(([key, value]) => [key, { type: 'string' as const, value }]),
  );
  return Buffer.from(codec.encode({ headers, body: Buffer.from(writeJson(payload)) }));
}
