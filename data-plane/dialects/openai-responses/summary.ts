/**
 * Compaction where the upstream does not offer it: the model is asked to sum the conversation up, and one
 * `compaction` item carries the summary back to the client, which sends it again with the next turn.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { ChatEvent, ChatRequest, ChatResponse, NativeBody } from '../canonical.ts';
import type { StreamEncoder } from '../dialect.ts';
import { isObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { writeSummary } from '../seals.ts';

const DIALECT = 'openai-responses';
/** Longest summary, in characters: far more than any context has room for. */
const MAX_SUMMARY_CHARACTERS = 1024 * 1024;

const INSTRUCTION = `The conversation up to here is going to be replaced by a summary that you write now.
Write down everything that is needed to go on without it: what the user asked for, in their own words where
the words matter; what was decided and why; what was done, with exact names, paths, values and results; what
is still open and what comes next. Do not call tools and do not go on with the work. Write the summary only.`;

/** The item of an input that asks for compaction in place of an answer; it comes last. */
export function endsInTrigger(input: unknown): input is JsonObject[] {
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined;
  return isObject(last) && last.type === 'compaction_trigger';
}

/** The request whose answer is the summary of its conversation; the encoders then write a `compaction`. */
export function askForSummary(request: ChatRequest, at: string): ChatRequest {
  const { format: _format, toolChoice: _choice, pointers, ...kept } = request;
  const { format: _formatAt, toolChoice: _choiceAt, ...keptPointers } = pointers;
  return {
    ...kept,
    messages: [...request.messages, { role: 'user', at, parts: [{ kind: 'text', text: INSTRUCTION, at }] }],
    // The calls in the history need their tools; no further ones are wanted.
    ...(request.tools.length > 0 ? { toolChoice: 'none' as const } : {}),
    stop: [],
    pointers: keptPointers,
    shape: { ...request.shape, compaction: true },
  };
}

/** The answer as one `compaction` item. Throws `upstream_failed` where the model wrote no summary. */
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
  return { kind: 'native', dialect: DIALECT, value };
}

/** Keeps the summary back until it is whole, then writes exactly one item. */
export class CompactionEncoder implements StreamEncoder {
  readonly #inner: StreamEncoder;
  #id = '';
  #text = '';
  #isText = false;

  constructor(inner: StreamEncoder) {
    this.#inner = inner;
  }

  /** Throws `upstream_failed` where the model wrote no summary, or far too much. */
  push(event: ChatEvent): string {
    if ('choice' in event) return event.choice === 0 ? this.#gather(event) : '';
    if (event.type === 'start') this.#id = event.id;
    return this.#inner.push(event);
  }

  #gather(event: Extract<ChatEvent, { choice: number }>): string {
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
  return new GatewayError('upstream_failed', 'The model wrote no summary of the conversation. Try again.');
}
