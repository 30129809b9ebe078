/** Streamed answers of an upstream that speaks the generative language format, read into canonical events. */
import { brokenOff } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent, Seal } from '../canonical.ts';
import { ChunkedAnswer } from '../chunks.ts';
import type { StreamDecoder } from '../dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { typeOfMime } from '../media.ts';
import { openSeal } from '../seals.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer } from '../upstream-errors.ts';
import { applyPartialArguments } from './partial-arguments.ts';
import { NAME, finishReason, readCitations, readLogprobs, readUsage } from './wire.ts';

/**
 * Reads an upstream's chunks. The clean end of the body ends the answer, once every candidate has finished.
 */
export function streamDecoder(choices: number): StreamDecoder {
  return new GenerateStreamDecoder(choices);
}

class GenerateStreamDecoder implements StreamDecoder {
  readonly #answer: ChunkedAnswer<CandidateDecoder>;
  #usage: JsonObject = {};

  constructor(asked: number) {
    this.#answer = new ChunkedAnswer(asked, (index, answerId) => new CandidateDecoder(index, answerId));
  }

  /** Pictures that are part of thinking have no place in other formats. */
  get withheld(): boolean {
    return this.#answer.choices.some((candidate) => candidate.hasSketched);
  }

  get mayBeOver(): boolean {
    return this.#answer.mayBeOver;
  }

  push(frame: SseFrame): ChatEvent[] {
    return this.#answer.push(frame, (chunk) => this.#read(chunk));
  }

  end(): ChatEvent[] {
    const answer = this.#answer;
    if (answer.ended) return [];
    answer.ended = true;
    const events = answer.choices.flatMap((candidate) => candidate.settle());
    // A blocked prompt has one finish, and some models ignore how many candidates were asked for.
    if (answer.hasFinished(1)) return [...events, { type: 'done' }];
    const error = brokenOff(`the stream ended before the finish of ${answer.asked} candidates`);
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
    const goesOn = textOf(chunk.turnToken) !== '';
    for (const candidate of candidates) {
      events.push(...this.#answer.choice(numberOf(candidate.index) ?? 0).read(candidate, goesOn));
    }
    if (isBlocked) events.push(...this.#answer.choice(0).block(textOf(feedback.blockReasonMessage)));
    if (isObject(chunk.usageMetadata)) {
      this.#usage = { ...this.#usage, ...chunk.usageMetadata };
      events.push({ type: 'usage', ...readUsage(this.#usage) });
    }
    return events;
  }
}

/** The parts of one candidate: a block is open as long as parts of its kind come. */
class CandidateDecoder {
  finished = false;
  hasSketched = false;
  readonly #index: number;
  readonly #answerId: string;
  readonly #blocks: BlockSequence;
  readonly #kinds = new Set<Block['kind']>();
  #calls = 0;
  #waitingWord = '';
  #open: { key: string; seal?: Seal } | undefined;
  /** A call whose arguments come in pieces (Vertex). */
  #partial: JsonObject | undefined;

  constructor(index: number, answerId: string) {
    this.#index = index;
    this.#answerId = answerId;
    this.#blocks = new BlockSequence(index);
  }

  /**
   * `goesOn`: the chunk is one of a turn with server-side calls, in which a finish may be followed by more.
   */
  read(candidate: JsonObject, goesOn: boolean): ChatEvent[] {
    if (this.finished) return [];
    const parts = objectsOf(objectOf(candidate.content).parts);
    const events = parts.flatMap((part) => this.#part(part));
    const logprobs = readLogprobs(candidate.logprobsResult);
    if (logprobs && this.#open?.key === 'text') events.push(...this.#blocks.delta('text', '', logprobs));
    const target = this.#open?.key === 'text' ? 'text' : undefined;
    if (target)
      events.push(...readCitations(candidate).flatMap((citation) => this.#blocks.cite(target, citation)));
    const word = textOf(candidate.finishReason);
    if (parts.some((part) => part.text !== '')) this.#waitingWord = '';
    if (!word || word === 'FINISH_REASON_UNSPECIFIED') return events;
    if (goesOn) this.#waitingWord = word;
    return goesOn ? events : [...events, ...this.#finish(word)];
  }

  /** A finish was named and nothing said since: also where the turn may go on. */
  get mayBeOver(): boolean {
    return this.finished || this.#waitingWord !== '';
  }

  /** The finish that waited for the end of the body. */
  settle(): ChatEvent[] {
    return this.finished || !this.#waitingWord ? [] : this.#finish(this.#waitingWord);
  }

  /** The prompt was refused: there will be no candidate. */
  block(message: string): ChatEvent[] {
    if (this.finished) return [];
    const said = message ? [...this.#text('refusal', message)] : [];
    return [...said, ...this.#finish('PROHIBITED_CONTENT')];
  }

  #finish(word: string): ChatEvent[] {
    this.finished = true;
    const events = [...this.#close(), ...this.#blocks.closeAll()];
    return [...events, { type: 'finish', choice: this.#index, reason: finishReason(word, this.#kinds) }];
  }

  #part(part: JsonObject): ChatEvent[] {
    const signature = textOf(part.thoughtSignature);
    const seal = signature ? openSeal(signature, NAME).seal : undefined;
    if (isObject(part.functionCall)) return this.#call(part.functionCall, seal);
    if (typeof part.text === 'string')
      return this.#sealedText(part.thought === true ? 'reasoning' : 'text', part.text, seal);
    if (isObject(part.inlineData)) {
      if (part.thought !== true) return this.#media(part.inlineData, seal);
      this.hasSketched = true;
      return [];
    }
    if (seal && Object.keys(part).length === 1) return this.#sealedText('text', '', seal);
    return this.#whole({ kind: 'native', dialect: NAME, value: part });
  }

  /** An empty text with a signature seals the text before it. */
  #sealedText(kind: 'text' | 'reasoning', text: string, seal: Seal | undefined): ChatEvent[] {
    if (!text && !seal) return [];
    const events = text === '' && this.#open ? [] : this.#text(kind, text);
    if (seal && this.#open) this.#open.seal = seal;
    if (seal && !this.#open) return [...this.#text(kind, ''), ...this.#sealOpen(seal)];
    return events;
  }

  #sealOpen(seal: Seal): ChatEvent[] {
    if (this.#open) this.#open.seal = seal;
    return [];
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
    if (!name && this.#partial) {
      applyPartialArguments(this.#partial, pieces);
      if (isObject(call.args)) Object.assign(this.#partial, call.args);
      return call.willContinue === true ? [] : this.#closePartial();
    }
    const events = this.#close();
    const id = textOf(call.id) || this.#spareId();
    this.#calls += 1;
    this.#kinds.add('tool-call');
    const key = `call ${this.#calls}`;
    const args = { ...objectOf(call.args) };
    applyPartialArguments(args, pieces);
    this.#open = { key, ...(seal ? { seal } : {}) };
    events.push(...this.#blocks.open(key, { kind: 'tool-call', id, name }, seal));
    this.#partial = args;
    return call.willContinue === true ? events : [...events, ...this.#closePartial()];
  }

  #closePartial(): ChatEvent[] {
    return this.#close();
  }

  /** Google's own calls have no id; other formats need one, unique among the calls of all answers. */
  #spareId(): string {
    return `call_${this.#answerId.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${this.#index}_${this.#calls}`;
  }

  #media(inline: JsonObject, seal: Seal | undefined): ChatEvent[] {
    const mediaType = textOf(inline.mimeType);
    const media = { type: typeOfMime(mediaType), mediaType, source: { base64: textOf(inline.data) } };
    return this.#whole({ kind: 'media', media }, seal);
  }

  #whole(head: BlockHead, seal?: Seal): ChatEvent[] {
    const events = this.#close();
    this.#kinds.add(head.kind);
    return [...events, ...this.#blocks.open('whole', head, seal), ...this.#blocks.close('whole', seal)];
  }

  #close(): ChatEvent[] {
    const open = this.#open;
    if (!open) return [];
    const rest = this.#partial ? this.#blocks.delta(open.key, JSON.stringify(this.#partial)) : [];
    this.#open = undefined;
    this.#partial = undefined;
    return [...rest, ...this.#blocks.close(open.key, open.seal)];
  }
}
