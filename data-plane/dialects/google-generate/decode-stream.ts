/** Decodes streamed answers of the generative language format. */
import { incompleteAnswer } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent, Seal } from '../canonical.ts';
import { ChunkedAnswer } from '../chunks.ts';
import type { StreamDecoder } from '../dialect.ts';
import { writeJson } from '../exact-json.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { typeOfMime } from '../media.ts';
import { openSeal } from '../seals.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer } from '../upstream-errors.ts';
import { applyPartialArguments } from './partial-arguments.ts';
import { generatedCallId } from '../tool-calls.ts';
import { NAME, readCitations, readFinish, readLogprobs, readUsage } from './wire.ts';

/**
 * Returns a decoder for one answer; `choices` is the number requested. The answer is complete if its body
 * ends cleanly after every candidate has finished.
 */
export function streamDecoder(choices: number): StreamDecoder {
  return new GenerateStreamDecoder(choices);
}

class GenerateStreamDecoder implements StreamDecoder {
  readonly #answer: ChunkedAnswer<CandidateDecoder>;
  #usage: JsonObject = {};

  constructor(requested: number) {
    this.#answer = new ChunkedAnswer(requested, (index, answerId) => new CandidateDecoder(index, answerId));
  }

  /** Images within thoughts are never reported, because no other format has them. */
  get hasUnreportedContent(): boolean {
    return this.#answer.choices.some((candidate) => candidate.hasThoughtImage);
  }

  get mayBeComplete(): boolean {
    return this.#answer.mayBeComplete;
  }

  push(frame: SseFrame): ChatEvent[] {
    return this.#answer.push(frame, (chunk) => this.#read(chunk));
  }

  end(): ChatEvent[] {
    const answer = this.#answer;
    if (answer.ended) return [];
    answer.ended = true;
    const events = answer.choices.flatMap((candidate) => candidate.finishAtEnd());
    // One finish is enough: a blocked prompt has only one, and some models ignore the requested number.
    if (answer.hasFinished(1)) return [...events, { type: 'done' }];
    const error = incompleteAnswer(`the stream ended before the finish of ${answer.requested} candidates`);
    return [...events, { type: 'error', error }];
  }

  #read(chunk: JsonObject): ChatEvent[] {
    if (isObject(chunk.error))
      throw failureInsideAnswer(`${textOf(chunk.error.status)} ${numberOf(chunk.error.code) ?? ''}`);
    const feedback = objectOf(chunk.promptFeedback);
    const candidates = objectsOf(chunk.candidates);
    const isBlocked = textOf(feedback.blockReason) !== '';
    if (candidates.length === 0 && !isBlocked && !isObject(chunk.usageMetadata)) return [];
    const events = this.#answer.start(textOf(chunk.responseId), textOf(chunk.modelVersion));
    // Before the candidates: clients of the messages format get input tokens only at the start of an answer.
    if (isObject(chunk.usageMetadata)) {
      this.#usage = { ...this.#usage, ...chunk.usageMetadata };
      events.push({ type: 'usage', ...readUsage(this.#usage) });
    }
    const mayContinue = textOf(chunk.turnToken) !== '';
    for (const candidate of candidates) {
      events.push(...this.#answer.choice(numberOf(candidate.index) ?? 0).read(candidate, mayContinue));
    }
    if (isBlocked) events.push(...this.#answer.choice(0).blocked(textOf(feedback.blockReasonMessage)));
    return events;
  }
}

/** Decodes the parts of one candidate. Consecutive parts of one kind become one block. */
class CandidateDecoder {
  finished = false;
  hasThoughtImage = false;
  readonly #index: number;
  readonly #answerId: string;
  readonly #blocks: BlockSequence;
  readonly #kinds = new Set<Block['kind']>();
  #calls = 0;
  /** A finish reason after which the turn may continue; '' if there is none. */
  #pendingFinish = '';
  #open: { key: string; seal?: Seal } | undefined;
  /** The arguments so far of the open tool call; Vertex sends them in pieces. */
  #arguments: JsonObject | undefined;

  constructor(index: number, answerId: string) {
    this.#index = index;
    this.#answerId = answerId;
    this.#blocks = new BlockSequence(index);
  }

  /** `mayContinue`: the chunk is part of a turn with server-side tools, which may go on after a finish. */
  read(candidate: JsonObject, mayContinue: boolean): ChatEvent[] {
    if (this.finished) return [];
    const parts = objectsOf(objectOf(candidate.content).parts);
    const events = parts.flatMap((part) => this.#part(part));
    const logprobs = readLogprobs(candidate.logprobsResult);
    if (this.#open?.key === 'text') {
      if (logprobs) events.push(...this.#blocks.delta('text', '', logprobs));
      events.push(...readCitations(candidate).flatMap((citation) => this.#blocks.cite('text', citation)));
    }
    const finishReason = textOf(candidate.finishReason);
    if (parts.some((part) => part.text !== '')) this.#pendingFinish = '';
    if (!finishReason || finishReason === 'FINISH_REASON_UNSPECIFIED') return events;
    if (mayContinue) this.#pendingFinish = finishReason;
    return mayContinue ? events : [...events, ...this.#finish(finishReason)];
  }

  /** Also true after a finish of a turn that may continue, until more text comes. */
  get mayBeComplete(): boolean {
    return this.finished || this.#pendingFinish !== '';
  }

  /** The pending finish, which the end of the body makes final. */
  finishAtEnd(): ChatEvent[] {
    return this.finished || !this.#pendingFinish ? [] : this.#finish(this.#pendingFinish);
  }

  /** The finish of a blocked prompt, for which no candidate follows; `message` explains it. */
  blocked(message: string): ChatEvent[] {
    if (this.finished) return [];
    const refusal = message ? this.#text('refusal', message) : [];
    return [...refusal, ...this.#finish('PROHIBITED_CONTENT')];
  }

  #finish(finishReason: string): ChatEvent[] {
    this.finished = true;
    const events = [...this.#close(), ...this.#blocks.closeAll()];
    return [
      ...events,
      { type: 'finish', choice: this.#index, reason: readFinish(finishReason, this.#kinds) },
    ];
  }

  #part(part: JsonObject): ChatEvent[] {
    const signature = textOf(part.thoughtSignature);
    const seal = signature ? openSeal(signature, NAME).seal : undefined;
    if (isObject(part.functionCall)) return this.#call(part.functionCall, seal);
    if (typeof part.text === 'string')
      return this.#sealedText(part.thought === true ? 'reasoning' : 'text', part.text, seal);
    if (isObject(part.inlineData)) {
      if (part.thought !== true) return this.#media(part.inlineData, seal);
      this.hasThoughtImage = true;
      return [];
    }
    if (seal && Object.keys(part).length === 1) return this.#sealedText('text', '', seal);
    return this.#wholeBlock({ kind: 'native', dialect: NAME, value: part });
  }

  /** Text with an optional signature. An empty text with a signature seals the open block. */
  #sealedText(kind: 'text' | 'reasoning', text: string, seal: Seal | undefined): ChatEvent[] {
    if (!text && !seal) return [];
    const events = text === '' && this.#open ? [] : this.#text(kind, text);
    if (seal && this.#open) this.#open.seal = seal;
    return events;
  }

  #text(kind: 'text' | 'reasoning' | 'refusal', text: string): ChatEvent[] {
    if (this.#open?.key === kind) return this.#blocks.delta(kind, text);
    this.#kinds.add(kind);
    const events = [
      ...this.#close(),
      ...this.#blocks.open(kind, { kind }),
      ...this.#blocks.delta(kind, text),
    ];
    this.#open = { key: kind };
    return events;
  }

  #call(call: JsonObject, seal: Seal | undefined): ChatEvent[] {
    const pieces = objectsOf(call.partialArgs);
    const name = textOf(call.name);
    if (!name && this.#arguments) {
      applyPartialArguments(this.#arguments, pieces);
      if (isObject(call.args)) Object.assign(this.#arguments, call.args);
      return call.willContinue === true ? [] : this.#close();
    }
    const events = this.#close();
    // Google's own tool calls have no id, but other formats need one.
    const id = textOf(call.id) || generatedCallId(this.#answerId, this.#index, this.#calls);
    this.#calls += 1;
    this.#kinds.add('tool-call');
    const key = `call ${this.#calls}`;
    // Pieces change the object, which must then lose its hidden text.
    const isWhole = pieces.length === 0 && call.willContinue !== true;
    const args = isWhole ? objectOf(call.args) : { ...objectOf(call.args) };
    applyPartialArguments(args, pieces);
    this.#open = { key, ...(seal ? { seal } : {}) };
    events.push(...this.#blocks.open(key, { kind: 'tool-call', id, name }, seal));
    this.#arguments = args;
    return call.willContinue === true ? events : [...events, ...this.#close()];
  }

  #media(inline: JsonObject, seal: Seal | undefined): ChatEvent[] {
    const mediaType = textOf(inline.mimeType);
    const media = { type: typeOfMime(mediaType), mediaType, source: { base64: textOf(inline.data) } };
    return this.#wholeBlock({ kind: 'media', media }, seal);
  }

  #wholeBlock(head: BlockHead, seal?: Seal): ChatEvent[] {
    const events = this.#close();
    this.#kinds.add(head.kind);
    return [...events, ...this.#blocks.open('whole', head, seal), ...this.#blocks.close('whole', seal)];
  }

  #close(): ChatEvent[] {
    const open = this.#open;
    if (!open) return [];
    const input = this.#arguments ? this.#blocks.delta(open.key, writeJson(this.#arguments)) : [];
    this.#open = undefined;
    this.#arguments = undefined;
    return [...input, ...this.#blocks.close(open.key, open.seal)];
  }
}
