/**
 * Events that the gateway does not know count as output once a mirrored client has enough of them: then the
 * stream is charged if the client leaves, and its end is an end.
 */
import type { DialectName } from '@gateway/shared/catalog';
import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../dialects/index.ts';
import { UNKNOWN_STREAM_BYTES } from '../limits.ts';
import { StreamMachine } from './stream-machine.ts';

const TEXT = 'text that the client reads. '.repeat(8);

/** Shapes with text in a place that the decoders do not know, for each format. */
const ODD: Record<DialectName, readonly object[]> = {
  'openai-chat': [
    { output: TEXT },
    { id: 'c', choices: [], output_text: TEXT },
    { id: 'c', choices: { 0: { delta: { content: TEXT } } } },
    { id: 'c', choices: [{ index: 0, text: TEXT }] },
    { id: 'c', choices: [{ index: 0, message: { content: TEXT } }] },
    { id: 'c', choices: [{ index: 0, delta: { new_content: TEXT } }] },
    { id: 'c', choices: [{ index: 0, delta: { content: [{ type: 'x', value: TEXT }] } }] },
    { id: 'c', choices: [{ index: 0, delta: [TEXT] }] },
    { id: 'c', choices: [{ index: 0, delta: {}, more: TEXT }] },
    { id: 'c', choices: [], usage: { prompt_tokens: 1 }, content: TEXT },
  ],
  'openai-responses': [
    { type: 'response.new.delta', text: TEXT },
    { type: 'response.output_text.piece', piece: TEXT },
    { type: 'response.output_item.added', item: { type: 'new', text: TEXT } },
    { type: 'response.content_part.added', part: { type: 'output_text', text: TEXT } },
    { type: 'response.output_text.done', text: TEXT },
    { output_text: TEXT },
    { type: 7, delta: { text: TEXT } },
  ],
  'anthropic-messages': [
    { type: 'content_delta', text: TEXT },
    { type: 'content_block_delta', index: 7, delta: { type: 'text_delta', text: TEXT } },
    { type: 'content_block_delta', index: 0, delta: { type: 'new_delta', text: TEXT } },
    { type: 'content_block_start', index: 0, content_block: { type: 'new', text: TEXT } },
    { type: 'message_delta', delta: { text: TEXT } },
    { text: TEXT },
  ],
  'google-generate': [
    { text: TEXT },
    { candidates: { 0: { content: { parts: [{ text: TEXT }] } } } },
    { candidates: [{ output: TEXT }] },
    { candidates: [{ content: { text: TEXT } }] },
    { candidates: [{ content: { parts: { text: TEXT } } }] },
    { candidates: [{ output: TEXT }], usageMetadata: { promptTokenCount: 1 } },
    { predictions: [{ content: TEXT }] },
  ],
};
const SHAPES = Object.values(DIALECTS).flatMap((dialect) =>
  ODD[dialect.name].map((event) => ({ dialect, event, shape: `${dialect.name} ${JSON.stringify(event)}` })),
);

const frameOf = (event: object) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);

function machineOf(name: DialectName): StreamMachine {
  const decoder = DIALECTS[name].outbound.streamDecoder(1);
  return new StreamMachine({ choices: 1, decoder, dropUsageFrames: false });
}

/** Pushes the event until the limit is exceeded; returns the bytes that the client has. */
function overflow(machine: StreamMachine, event: object): number {
  let [relayed, sent] = [0, 0];
  for (const bytes = frameOf(event); sent <= UNKNOWN_STREAM_BYTES; sent += bytes.length)
    relayed += machine.push(bytes).length;
  return relayed;
}

describe.each(SHAPES)('a stream of $shape', ({ dialect, event }) => {
  it('counts as output after some bytes, and ends with its body', () => {
    const machine = machineOf(dialect.name);
    const relayed = overflow(machine, event);
    expect([relayed > 0, machine.content, machine.relayed, machine.failure]).toEqual([
      ...[true, true, true, undefined],
    ]);
    machine.end();
    expect([machine.done, machine.failure]).toEqual([true, undefined]);
  });

  it('is free and broken if it ends earlier', () => {
    const machine = machineOf(dialect.name);
    machine.push(frameOf(event));
    machine.end();
    const isRead = machine.content;
    expect([machine.done, isRead || machine.failure?.code]).toEqual([false, isRead || 'upstream_failed']);
  });
});

describe('a stream that the gateway cannot read', () => {
  it('holds its end marker back until the charge is durable', () => {
    const machine = machineOf('openai-chat');
    overflow(machine, { output: TEXT });
    const marker = 'data: [DONE]\n\n';
    expect(String(machine.push(Buffer.from(marker)))).toBe('');
    expect([machine.done, String(machine.held)]).toEqual([true, marker]);
  });

  it('stays free if the upstream reports an error', () => {
    const machine = machineOf('anthropic-messages');
    overflow(machine, { text: TEXT });
    machine.push(frameOf({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }));
    expect([machine.done, machine.failure?.code]).toEqual([false, 'upstream_busy']);
  });
});

describe('events that are known to come without output', () => {
  const big = 'instructions '.repeat(UNKNOWN_STREAM_BYTES);
  it.each([
    ['openai-responses', { type: 'response.created', response: { id: 'r', instructions: big } }],
    ['openai-responses', { type: 'response.in_progress', response: { id: 'r', instructions: big } }],
    ['anthropic-messages', { type: 'ping' }],
    ['openai-chat', { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }],
  ] as const)('never count as output: %s', (name, event) => {
    const machine = machineOf(name);
    overflow(machine, event);
    expect([machine.content, machine.relayed]).toEqual([false, false]);
    machine.end();
    expect(machine.failure?.code).toBe('upstream_failed');
  });
});
