/** Decodes streamed answers of chat completions. */
import { incompleteAnswer } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent, Citation, Seal } from '../canonical.ts';
import { ChunkedAnswer } from '../chunks.ts';
import type { StreamDecoder } from '../dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import type { SseFrame } from '../sse.ts';
import { generatedCallId } from '../tool-calls.ts';
import { failureInsideAnswer } from '../upstream-errors.ts';
import { OPENAI_READ_TIERS, wordOf } from '../vocabularies.ts';
import { mergeDetails, readReasoning, sealOf, thinkingText } from './reasoning.ts';
import { argumentsText, errorKind, readMedia, topLevelCitations } from './response.ts';
import { ToolCallTracker } from './tool-call-tracker.ts';
import type { StreamedToolCall } from './tool-call-tracker.ts';
import { readCitation, readFinish, readLogprobs, readUsage, isEmptyChoice } from './wire.ts';

/** Returns a decoder for one answer; `choices` is the number requested. */
export function streamDecoder(choices: number): StreamDecoder {
  return new ChatStreamDecoder(choices);
}

class ChatStreamDecoder implements StreamDecoder {
  readonly #answer: ChunkedAnswer<ChoiceDecoder>;
  isProgress = false;
  textMember: string | undefined;

  constructor(requested: number) {
    this.#answer = new ChunkedAnswer(requested, (index, answerId) => new ChoiceDecoder(index, answerId));
  }

  /** Audio comes in pieces and is reported as a whole. */
  get hasUnreportedContent(): boolean {
    return this.#answer.choices.some((choice) => choice.hasAudio);
  }

  get mayBeComplete(): boolean {
    return this.#answer.mayBeComplete;
  }

  push(frame: SseFrame): ChatEvent[] {
    this.textMember = undefined;
    if (frame.data.trim() === '[DONE]') return this.#finish(1);
    return this.#answer.push(frame, (chunk) => this.#read(chunk));
  }

  /** Groq, Perplexity and GPUStack may omit `[DONE]`; then all requested choices must have finished. */
  end(): ChatEvent[] {
    return this.#finish(this.#answer.requested);
  }

  /** Ends the answer, which is complete if at least `minimum` choices exist and all have finished. */
  #finish(minimum: number): ChatEvent[] {
    if (this.#answer.ended) return [];
    this.#answer.ended = true;
    return [
      this.#answer.hasFinished(minimum)
        ? { type: 'done' }
        : { type: 'error', error: incompleteAnswer('the stream ended before its finish') },
    ];
  }

  #read(chunk: JsonObject): ChatEvent[] {
    const choices = objectsOf(chunk.choices);
    this.isProgress = choices.length > 0 && choices.every(isEmptyChoice);
    if (isObject(chunk.error) && choices.length === 0) throw failureInsideAnswer(errorKind(chunk.error));
    const usage =
      readUsage(chunk.usage) ?? readUsage(isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
    // Azure starts with a chunk that has neither id nor choices.
    if (choices.length === 0 && !usage) return [];
    const events = this.#answer.start(textOf(chunk.id), textOf(chunk.model));
    const serviceTier = wordOf(OPENAI_READ_TIERS, chunk.service_tier);
    if (usage) events.push({ type: 'usage', ...usage, ...(serviceTier ? { serviceTier } : {}) });
    const citations = topLevelCitations(chunk.citations);
    for (const choice of choices) {
      if (isObject(choice.error)) throw failureInsideAnswer(errorKind(choice.error));
      const decoder = this.#answer.choice(numberOf(choice.index) ?? 0);
      events.push(...decoder.read(choice, citations));
      if (choices.length === 1 && events.length === 1) this.textMember = decoder.textMember;
    }
    return events;
  }
}

/** The member with the text of a delta that has nothing else, as most have. It takes a fast path. */
function plainMember(choice: JsonObject, delta: JsonObject): string | undefined {
  if (choice.finish_reason || choice.logprobs) return undefined;
  const member = typeof delta.content === 'string' ? 'content' : 'reasoning_content';
  for (const name in delta) if (name !== member && name !== 'role' && delta[name] !== null) return undefined;
  return typeof delta[member] === 'string' ? member : undefined;
}

/** Decodes the deltas of one choice. A delta of another kind starts a new block. */
class ChoiceDecoder {
  finished = false;
  textMember: string | undefined;
  readonly #index: number;
  readonly #answerId: string;
  readonly #blocks: BlockSequence;
  readonly #kinds = new Set<Block['kind']>();
  readonly #calls = new ToolCallTracker();
  /** The `reasoning_details` so far of the open reasoning block. */
  #details: JsonObject[] = [];
  /** The citations that were reported; undefined before the first one. */
  #cited: Set<string> | undefined;
  /** Citations that came before the first text. */
  #waitingCitations: Citation[] = [];
  #audio = { data: '', transcript: '' };

  constructor(index: number, answerId: string) {
    this.#index = index;
    this.#answerId = answerId;
    this.#blocks = new BlockSequence(index);
  }

  get mayBeComplete(): boolean {
    return this.finished;
  }

  get hasAudio(): boolean {
    return this.#audio.data !== '' || this.#audio.transcript !== '';
  }

  read(choice: JsonObject, citations: Citation[]): ChatEvent[] {
    // OpenRouter sends its finish twice; only the first one counts.
    if (this.finished) return [];
    const delta = objectOf(choice.delta);
    const member = citations.length > 0 ? undefined : plainMember(choice, delta);
    this.textMember = member;
    if (member) return this.#text(member === 'content' ? 'text' : 'reasoning', textOf(delta[member]));
    const events = [
      ...this.#thinking(delta),
      ...this.#content(delta, choice),
      ...this.#media(delta),
      ...this.#toolCalls(delta),
      ...this.#citations([
        ...objectsOf(delta.annotations).flatMap((one) => readCitation(one) ?? []),
        ...citations,
      ]),
    ];
    const finishReason = textOf(choice.finish_reason);
    return finishReason ? [...events, ...this.#finish(finishReason)] : events;
  }

  #finish(finishReason: string): ChatEvent[] {
    this.finished = true;
    const events = [...this.#openNamelessCalls(), ...this.#closeAll(), ...this.#audioBlock()];
    return [
      ...events,
      { type: 'finish', choice: this.#index, reason: readFinish(finishReason, this.#kinds) },
    ];
  }

  #thinking(delta: JsonObject): ChatEvent[] {
    const { text, details } = readReasoning(delta);
    if (!text && details.length === 0) return [];
    const events = this.#ensure('reasoning', { kind: 'reasoning' });
    // The details become the block's seal when it ends.
    this.#details = mergeDetails(this.#details, details);
    return [...events, ...this.#blocks.delta('reasoning', text)];
  }

  #content(delta: JsonObject, choice: JsonObject): ChatEvent[] {
    const parts: unknown[] = Array.isArray(delta.content) ? delta.content : [delta.content];
    const logprobs = readLogprobs(choice.logprobs);
    const events = parts.flatMap((part) => {
      if (typeof part === 'string') return this.#text('text', part, logprobs);
      if (!isObject(part)) return [];
      if (part.type === 'thinking') return this.#text('reasoning', thinkingText(part.thinking));
      return this.#text('text', textOf(part.text), logprobs);
    });
    return [...events, ...this.#text('refusal', textOf(delta.refusal))];
  }

  #text(
    kind: 'text' | 'refusal' | 'reasoning',
    text: string,
    logprobs?: ReturnType<typeof readLogprobs>,
  ): ChatEvent[] {
    if (!text) return [];
    return [
      ...this.#ensure(kind, { kind }),
      ...this.#blocks.delta(kind, text, kind === 'text' ? logprobs : undefined),
    ];
  }

  /**
   * Images and native blocks come whole. Audio is collected, because its pieces are not valid by themselves.
   */
  #media(delta: JsonObject): ChatEvent[] {
    const { audio } = delta;
    if (isObject(audio)) {
      this.#audio.data += textOf(audio.data);
      this.#audio.transcript += textOf(audio.transcript);
    }
    return readMedia({ ...delta, audio: undefined }).flatMap((block) => this.#wholeBlock(block));
  }

  #audioBlock(): ChatEvent[] {
    const { data, transcript } = this.#audio;
    return data || transcript
      ? readMedia({ audio: { data, transcript } }).flatMap((block) => this.#wholeBlock(block))
      : [];
  }

  #wholeBlock({ text, ...head }: Block): ChatEvent[] {
    const events = this.#ensure(`whole ${this.#kinds.size}`, head);
    return [...events, ...this.#blocks.delta(`whole ${this.#kinds.size}`, text), ...this.#blocks.closeAll()];
  }

  #toolCalls(delta: JsonObject): ChatEvent[] {
    const events = objectsOf(delta.tool_calls).flatMap((wire) => this.#toolCall(wire));
    const legacy = delta.function_call;
    return isObject(legacy) ? [...events, ...this.#toolCall({ index: -1, function: legacy })] : events;
  }

  #toolCall(wire: JsonObject): ChatEvent[] {
    const custom = isObject(wire.custom);
    const called = isObject(wire.custom) ? wire.custom : isObject(wire.function) ? wire.function : {};
    const id = textOf(wire.id);
    const name = textOf(called.name);
    const call = this.#calls.callFor({ wireIndex: numberOf(wire.index), id, name, custom });
    call.id ||= id;
    if (!call.opened) call.name += name;
    const text = argumentsText(custom ? called.input : called.arguments);
    if (!call.name) {
      call.earlyText += text;
      return [];
    }
    return [...this.#openCall(call), ...this.#blocks.delta(call.key, text)];
  }

  #openCall(call: StreamedToolCall): ChatEvent[] {
    if (call.opened) return [];
    call.opened = true;
    call.id ||= generatedCallId(this.#answerId, this.#index, this.#calls.calls.indexOf(call));
    const head = {
      kind: 'tool-call' as const,
      id: call.id,
      name: call.name,
      ...(call.custom ? { custom: true } : {}),
    };
    return [...this.#ensure(call.key, head), ...this.#blocks.delta(call.key, call.earlyText)];
  }

  /** Reports tool calls that never got a name, so that the client sees the upstream's mistake. */
  #openNamelessCalls(): ChatEvent[] {
    return this.#calls.calls.flatMap((call) => this.#openCall(call));
  }

  /**
   * Opens the block unless it is open, and closes other blocks. Tool calls with incomplete arguments stay
   * open, because the deltas of parallel tool calls may be interleaved.
   */
  #ensure(key: string, head: BlockHead): ChatEvent[] {
    if (this.#blocks.isOpen(key)) return [];
    this.#kinds.add(head.kind);
    const events = this.#blocks.unclosed
      .filter((block) => isComplete(block))
      .flatMap((block) => this.#close(block.key));
    events.push(...this.#blocks.open(key, head));
    return head.kind === 'text' ? [...events, ...this.#citations(this.#waitingCitations.splice(0))] : events;
  }

  #closeAll(): ChatEvent[] {
    return this.#blocks.unclosed.flatMap(({ key }) => this.#close(key));
  }

  #close(key: string): ChatEvent[] {
    return this.#blocks.close(key, key === 'reasoning' ? this.#takeSeal() : undefined);
  }

  #takeSeal(): Seal {
    const details = this.#details;
    this.#details = [];
    return sealOf(details);
  }

  /** Reports each citation once: Perplexity repeats its list in every chunk. Early ones wait for the text. */
  #citations(citations: Citation[]): ChatEvent[] {
    return citations.flatMap((citation) => {
      const fingerprint = JSON.stringify(citation);
      if (this.#cited?.has(fingerprint)) return [];
      if (!this.#blocks.isOpen('text')) {
        if (!this.#kinds.has('text')) this.#waitingCitations.push(citation);
        return [];
      }
      (this.#cited ??= new Set()).add(fingerprint);
      return this.#blocks.cite('text', citation);
    });
  }
}

function isComplete({ head, text }: { head: BlockHead; text: string }): boolean {
  return head.kind !== 'tool-call' || head.custom === true || parseObject(text) !== undefined;
}
