/**
 * Emulates compaction over upstreams that do not offer it. The model is asked for a summary of the
 * conversation, and the client receives the summary in a `compaction` item, which it sends back with its
 * next request.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { ChatEvent, ChatRequest, ChatResponse, NativeBody } from '../canonical.ts';
import type { StreamEncoder } from '../dialect.ts';
import { isObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { writeSummary } from '../seals.ts';
import { NAME } from './wire.ts';

/** Maximum length of a summary in characters; more than any model's context can hold. */
const MAX_SUMMARY_CHARACTERS = 1024 * 1024;

const INSTRUCTION = `The conversation up to here is going to be replaced by a summary that you write now.
Write down everything that is needed to go on without it: what the user asked for, in their own words where
the words matter; what was decided and why; what was done, with exact names, paths, values and results; what
is still open and what comes next. Do not call tools and do not go on with the work. Write the summary only.`;

/** Whether the last item of `input` requests compaction instead of an answer. */
export function endsInTrigger(input: unknown): input is JsonObject[] {
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined;
  return isObject(last) && last.type === 'compaction_trigger';
}

/**
 * Returns the request for a summary of the same conversation, whose answer is encoded as a `compaction`
 * item. `at` is the JSON pointer of the client's request for compaction.
 */
export function askForSummary(request: ChatRequest, at: string): ChatRequest {
  const { format: _format, toolChoice: _choice, pointers, ...kept } = request;
  const { format: _formatAt, toolChoice: _choiceAt, ...keptPointers } = pointers;
  return {
    ...kept,
    messages: [...request.messages, { role: 'user', at, parts: [{ kind: 'text', text: INSTRUCTION, at }] }],
    // The tool calls in the history need their tools, but the model must not call any.
    ...(request.tools.length > 0 ? { toolChoice: 'none' as const } : {}),
    stop: [],
    pointers: keptPointers,
    shape: { ...request.shape, compaction: true },
  };
}

/** Turns the model's answer into one `compaction` item. Throws `upstream_failed` if it holds no summary. */
export function compacted(response: ChatResponse): ChatResponse {
  const texts = (response.choices[0]?.blocks ?? []).filter(({ kind }) => kind === 'text');
  const block = compactionBlock(response.id, texts.map(({ text }) => text).join('\n\n'));
  return { ...response, choices: [{ blocks: [{ ...block, text: '' }], finish: 'stop' }] };
}

function compactionBlock(responseId: string, text: string): NativeBody {
  const summary = text.trim();
  if (summary === '') throw noSummary();
  const id = `cmp_${responseId.replace(/^resp_/, '').replace(/[^A-Za-z0-9_-]/g, '')}`;
  const value = { type: 'compaction', id, encrypted_content: writeSummary(summary) };
  return { kind: 'native', dialect: NAME, value };
}

/** Encodes a streamed summary as a single `compaction` item, once the summary is complete. */
export class CompactionEncoder implements StreamEncoder {
  readonly #inner: StreamEncoder;
  #id = '';
  #text = '';
  #isText = false;

  constructor(inner: StreamEncoder) {
    this.#inner = inner;
  }

  /** Throws `upstream_failed` if the model wrote no summary or far too much. */
  push(event: ChatEvent): string {
    if ('choice' in event) return event.choice === 0 ? this.#collect(event) : '';
    if (event.type === 'start') this.#id = event.id;
    return this.#inner.push(event);
  }

  #collect(event: Extract<ChatEvent, { choice: number }>): string {
    switch (event.type) {
      case 'block-start':
        this.#isText = event.block.kind === 'text';
        if (this.#isText && this.#text !== '') this.#text += '\n\n';
        return '';
      case 'block-delta':
        if (this.#isText) this.#text += event.text;
        if (this.#text.length > MAX_SUMMARY_CHARACTERS) throw noSummary();
        return '';
      case 'finish':
        return this.#item() + this.#inner.push({ type: 'finish', choice: 0, reason: 'stop' });
      default:
        return '';
    }
  }

  #item(): string {
    const block = compactionBlock(this.#id, this.#text);
    return (
      this.#inner.push({ type: 'block-start', choice: 0, block }) +
      this.#inner.push({ type: 'block-end', choice: 0 })
    );
  }
}

function noSummary(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream sent no summary of the conversation. Try again.');
}
