/**
 * Streams of every upstream format are decoded and encoded for every client without a crash, and mirrored
 * streams do not depend on where their bytes are cut.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { ChatEvent } from '../../../data-plane/dialects/canonical.ts';
import type { UpstreamDialect } from '../../../data-plane/dialects/dialect.ts';
import { FrameSplitter } from '../../../data-plane/exchange/frames.ts';
import { StreamMachine } from '../../../data-plane/exchange/stream-machine.ts';
import { INBOUND, REQUEST, letterOfUpstream, upstreamOf } from '../clients.ts';
import { recordedStreams } from '../recorded.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

/** The events of a Converse stream, by name. */
const CONVERSE = {
  messageStart: { role: 'assistant' },
  contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'c', name: 'f' } } },
  contentBlockDelta: { contentBlockIndex: 0, delta: { toolUse: { input: '{}' } } },
  contentBlockStop: { contentBlockIndex: 0 },
  messageStop: { stopReason: 'tool_use' },
  metadata: { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
};

export const target: FuzzTarget = {
  run(input) {
    const dialect = upstreamOf(input);
    const bytes = input.subarray(1);
    const events = eventsOf(dialect, bytes);
    for (const inbound of Object.values(INBOUND)) {
      const encoder = inbound.streamEncoder(REQUEST);
      for (const event of events) encoder.push(event);
    }
    const place = (input.length * 7) % (bytes.length + 1);
    const cut = mirrored(dialect, [bytes.subarray(0, place), bytes.subarray(place)]);
    demand(cut === mirrored(dialect, [bytes]), 'a mirrored stream depends on the cuts');
  },
  seeds: [
    `${letterOfUpstream('openai-chat')}${lines([
      { id: 'i', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'a' } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
    ])}data: [DONE]\n\n`,
    letterOfUpstream('openai-responses') +
      lines([
        { type: 'response.created', response: { id: 'r' } },
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { type: 'message', id: 'x', content: [] },
        },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'x', delta: 'a' },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: { type: 'message', id: 'x', content: [] },
        },
        { type: 'response.completed', response: { id: 'r', status: 'completed', output: [], usage: {} } },
      ]),
    letterOfUpstream('anthropic-messages') +
      lines([
        { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'c', name: 'f' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{}' } },
        { type: 'content_block_stop', index: 1 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ]),
    letterOfUpstream('google-generate') +
      lines([
        { candidates: [{ content: { parts: [{ text: 'b', thought: true }] } }] },
        { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: {} } }] } }] },
        { candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1 } },
      ]),
    letterOfUpstream('bedrock-converse') +
      Object.entries(CONVERSE)
        .map(([name, value]) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`)
        .join(''),
  ],
  tokens: ['data: ', '\n\n', '[DONE]', 'event: error\n'],
  recorded: recordedStreams,
};

function lines(values: readonly unknown[]): string {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
}

/** The events up to a failure. */
function eventsOf({ outbound }: UpstreamDialect, bytes: Buffer): ChatEvent[] {
  const decoder = outbound.streamDecoder(REQUEST.choices);
  const splitter = new FrameSplitter();
  const events: ChatEvent[] = [];
  try {
    const frames = splitter.push(bytes);
    const last = splitter.end();
    for (const bytes of last ? [...frames, last] : frames) {
      const frame = splitter.read(bytes);
      if (frame) events.push(...decoder.push(frame));
    }
    events.push(...decoder.end());
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    events.push({ type: 'error', error });
  }
  return events;
}

/** Output of a mirrored stream, and its end. */
function mirrored({ outbound }: UpstreamDialect, chunks: readonly Buffer[]): string {
  const machine = new StreamMachine({
    choices: REQUEST.choices,
    decoder: outbound.streamDecoder(REQUEST.choices),
    dropUsageFrames: false,
  });
  const sent = [...chunks.map((chunk) => machine.push(chunk)), machine.end(), machine.held];
  return `${Buffer.concat(sent).toString('latin1')} ${machine.done} ${machine.failure?.message}`;
}
