/** Streamed answers of an upstream that speaks chat completions, read into canonical events. */
import { brokenOff } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent, Citation, Seal } from '../canonical.ts';
import { ChunkedAnswer } from '../chunks.ts';
import type { StreamDecoder } from '../dialect.ts';
import { isObject, numberOf, objectsOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer } from '../upstream-errors.ts';
import { CallBook } from './calls.ts';
import type { Call } from './calls.ts';
import { mergeDetails, readReasoning, sealOf } from './reasoning.ts';
import { argumentText, errorKind, madeUpId, readMedia, thinkingText, topCitations } from './response.ts';
import { finishReason, readCitation, readLogprobs, readUsage } from './wire.ts';

/** Reads an upstream's chunks; `choices` is how many answers were asked for. */
export function streamDecoder(choices: number): StreamDecoder {
  return new ChatStreamDecoder(choices);
}

class ChatStreamDecoder implements StreamDecoder {
  readonly #answer: ChunkedAnswer<ChoiceDecoder>;

  constructor(asked: number) {
    this.#answer = new ChunkedAnswer(asked, (index, answerId) => new ChoiceDecoder(index, answerId));
  }

  /** Speech comes in pieces and is told whole. */
  get withheld(): boolean {
    return this.#answer.choices.some((choice) => choice.hasSpoken);
  }

  get mayBeOver(): boolean {
    return this.#answer.mayBeOver;
  }

  push(frame: SseFrame): ChatEvent[] {
    if (frame.data.trim() === '[DONE]') return this.#finish(1);
    return this.#answer.push(frame, (chunk) => this.#read(chunk));
  }

  /**
   * Groq, Perplexity and GPUStack may end without `[DONE]`: enough where every answer asked for has finished.
   */
  end(): ChatEvent[] {
    return this.#finish(this.#answer.asked);
  }

  #finish(needed: number): ChatEvent[] {
    if (this.#answer.ended) return [];
    this.#answer.ended = true;
    return [
      this.#answer.hasFinished(needed)
        ? { type: 'done' }
        : { type: 'error', error: brokenOff('the stream ended before its finish') },
    ];
  }

  #read(chunk: JsonObject): ChatEvent[] {
    const choices = objectsOf(chunk.choices);
    if (isObject(chunk.error) && choices.length === 0) throw failureInsideAnswer(errorKind(chunk.error));
    const usage =
      readUsage(chunk.usage) ?? readUsage(isObject(chunk.x_groq) ? chunk.x_groq.usage : undefined);
    // Azure opens with a chunk that has neither id nor choices.
    if (choices.length === 0 && !usage) return [];
    const events = this.#answer.start(textOf(chunk.id), textOf(chunk.model));
    const citations = topCitations(chunk.citations);
    for (const choice of choices) {
      if (isObject(choice.error)) throw failureInsideAnswer(errorKind(choice.error));
      events.push(...this.#answer.choice(numberOf(choice.index) ?? 0).read(choice, citations));
    }
    const serviceTier = textOf(chunk.service_tier);
    if (usage) events.push({ type: 'usage', ...usage, ...(serviceTier ? { serviceTier } : {}) });
    return events;
  }
}

/** Most chunks carry nothing but a piece of text: they need not be asked for everything else. */
function isPlainText(choice: JsonObject, delta: JsonObject): boolean {
  if (typeof delta.content !== 'string' || choice.finish_reason || choice.logprobs) return false;
  for (const name in delta) if (name !== 'content' && name !== 'role') return false;
  return true;
}

/** The deltas of one choice: a new block opens when the kind of delta changes. */
class ChoiceDecoder {
  finished = false;
  readonly #index: number;
  readonly #answerId: string;
  readonly #blocks: BlockSequence;
  readonly #kinds = new Set<Block['kind']>();
  readonly #calls = new CallBook();
  #details: JsonObject[] = [];
  #cited = new Set<string>();
  #waitingCitations: Citation[] = [];
  #spoken = { data: '', transcript: '' };

  constructor(index: number, answerId: string) {
    this.#index = index;
    this.#answerId = answerId;
    this.#blocks = new BlockSequence(index);
  }

  get mayBeOver(): boolean {
    return this.finished;
  }

  get hasSpoken(): boolean {
    return this.#spoken.data !== '' || this.#spoken.transcript !== '';
  }

  read(choice: JsonObject, citations: Citation[]): ChatEvent[] {
    // OpenRouter sends its finish twice; nothing may follow the first.
    if (this.finished) return [];
    const delta = isObject(choice.delta) ? choice.delta : {};
    if (citations.length === 0 && isPlainText(choice, delta))
      return this.#text('text', textOf(delta.content));
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
    const word = textOf(choice.finish_reason);
    return word ? [...events, ...this.#finish(word)] : events;
  }

  #finish(word: string): ChatEvent[] {
    this.finished = true;
    const events = [...this.#openLateCalls(), ...this.#closeAll(), ...this.#speech()];
    return [...events, { type: 'finish', choice: this.#index, reason: finishReason(word, this.#kinds) }];
  }

  #thinking(delta: JsonObject): ChatEvent[] {
    const { text, details } = readReasoning(delta);
    if (!text && details.length === 0) return [];
    const events = this.#ensure('reasoning', { kind: 'reasoning' });
    // Thinking has its seal at the block's end: collected until then.
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

  /** Media and native blocks come whole. Speech is collected: its pieces are no valid sound by themselves. */
  #media(delta: JsonObject): ChatEvent[] {
    const { audio } = delta;
    if (isObject(audio)) {
      this.#spoken.data += textOf(audio.data);
      this.#spoken.transcript += textOf(audio.transcript);
    }
    return readMedia({ ...delta, audio: undefined }).flatMap((block) => this.#whole(block));
  }

  #speech(): ChatEvent[] {
    const { data, transcript } = this.#spoken;
    return data || transcript
      ? readMedia({ audio: { data, transcript } }).flatMap((block) => this.#whole(block))
      : [];
  }

  #whole({ text, ...head }: Block): ChatEvent[] {
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
    const call = this.#calls.callOf({ wireIndex: numberOf(wire.index), id, name, custom });
    call.id ||= id;
    if (!call.opened) call.name += name;
    const text = argumentText(custom ? called.input : called.arguments);
    if (!call.name) {
      call.early += text;
      return [];
    }
    return [...this.#openCall(call), ...this.#blocks.delta(call.key, text)];
  }

  #openCall(call: Call): ChatEvent[] {
    if (call.opened) return [];
    call.opened = true;
    call.id ||= madeUpId(this.#answerId, this.#index, this.#calls.calls.indexOf(call));
    const head = {
      kind: 'tool-call' as const,
      id: call.id,
      name: call.name,
      ...(call.custom ? { custom: true } : {}),
    };
    return [...this.#ensure(call.key, head), ...this.#blocks.delta(call.key, call.early)];
  }

  /** Calls that never got a name are the upstream's fault; the client sees them all the same. */
  #openLateCalls(): ChatEvent[] {
    return this.#calls.calls.flatMap((call) => this.#openCall(call));
  }

  /**
   * Opens the block unless it is open. Other blocks close first, but for calls whose arguments are still
   * incomplete: what comes after them waits, so that parallel calls may be interleaved.
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

  /** Perplexity repeats its list in every chunk. Citations before the first text wait for it. */
  #citations(citations: Citation[]): ChatEvent[] {
    return citations.flatMap((citation) => {
      const fingerprint = JSON.stringify(citation);
      if (this.#cited.has(fingerprint)) return [];
      if (!this.#blocks.isOpen('text')) {
        if (!this.#kinds.has('text')) this.#waitingCitations.push(citation);
        return [];
      }
      this.#cited.add(fingerprint);
      return this.#blocks.cite('text', citation);
    });
  }
}

function isComplete({ head, text }: { head: BlockHead; text: string }): boolean {
  return head.kind !== 'tool-call' || head.custom === true || parseObject(text) !== undefined;
}
