/** Converts between whole answers and events: `collect(replay(answer))` equals the answer. */
import { GatewayError } from '@gateway/shared/failures';
import { NO_TOKENS } from './canonical.ts';
import type { Block, ChatEvent, ChatResponse, Choice, Usage } from './canonical.ts';

/**
 * Collects events into a whole answer. Throws the error of an `error` event, and `upstream_failed` if the
 * events lack `done`, have no choice or an unfinished one.
 */
export function collect(events: Iterable<ChatEvent>): ChatResponse {
  const collector = new Collector();
  for (const event of events) collector.push(event);
  return collector.response();
}

class Collector {
  #head = { id: '', model: '' };
  #usage: Usage = { tokens: NO_TOKENS };
  #done = false;
  readonly #choices = new Map<number, { blocks: Block[]; end?: Pick<Choice, 'finish' | 'stopSequence'> }>();

  push(event: ChatEvent): void {
    switch (event.type) {
      case 'start':
        this.#head = { id: event.id, model: event.model };
        return;
      case 'usage':
        this.#usage = usageOf(event);
        return;
      case 'done':
        this.#done = true;
        return;
      case 'error':
        throw event.error;
      case 'finish':
        this.#choice(event.choice).end = {
          finish: event.reason,
          ...(event.stopSequence === undefined ? {} : { stopSequence: event.stopSequence }),
        };
        return;
      case 'block-start':
        this.#choice(event.choice).blocks.push({ ...event.block, text: '' });
        return;
      default:
        this.#extend(event);
    }
  }

  response(): ChatResponse {
    const choices = [...this.#choices.entries()].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    if (!this.#done || choices.length === 0) throw incompleteAnswer();
    return {
      ...this.#head,
      ...this.#usage,
      choices: choices.map(({ blocks, end }) => {
        if (!end) throw incompleteAnswer();
        return { blocks, ...end };
      }),
    };
  }

  #extend(event: Extract<ChatEvent, { type: 'block-delta' | 'citation' | 'block-end' }>): void {
    const block = this.#choice(event.choice).blocks.at(-1);
    if (!block) return;
    if (event.type === 'citation') block.citations = [...(block.citations ?? []), event.citation];
    else if (event.type === 'block-end') {
      if (event.seal) block.seal = event.seal;
    } else {
      block.text += event.text;
      if (event.logprobs) block.logprobs = [...(block.logprobs ?? []), ...event.logprobs];
    }
  }

  #choice(index: number): { blocks: Block[]; end?: Pick<Choice, 'finish' | 'stopSequence'> } {
    const known = this.#choices.get(index);
    if (known) return known;
    const created = { blocks: [] };
    this.#choices.set(index, created);
    return created;
  }
}

/** The failure of an answer that ended before it was complete. `cause` goes to the log. */
export function incompleteAnswer(cause?: unknown): GatewayError {
  return new GatewayError('upstream_failed', INCOMPLETE, { cause });
}

/** Whether the failure only says that the answer's end is missing. */
export function isIncomplete(error: GatewayError): boolean {
  return error.message === INCOMPLETE;
}

const INCOMPLETE = 'The upstream ended its answer before it was complete. Try again.';

/** Returns the events of a whole answer. */
export function* replay(response: ChatResponse): Generator<ChatEvent> {
  yield { type: 'start', id: response.id, model: response.model };
  for (const [choice, { blocks, finish, stopSequence }] of response.choices.entries()) {
    for (const block of blocks) yield* replayBlock(choice, block);
    yield { type: 'finish', choice, reason: finish, ...(stopSequence === undefined ? {} : { stopSequence }) };
  }
  yield { type: 'usage', ...usageOf(response) };
  yield { type: 'done' };
}

function* replayBlock(
  choice: number,
  { text, citations, logprobs, seal, ...head }: Block,
): Generator<ChatEvent> {
  yield { type: 'block-start', choice, block: head, ...(seal ? { seal } : {}) };
  if (text || logprobs) yield { type: 'block-delta', choice, text, ...(logprobs ? { logprobs } : {}) };
  for (const citation of citations ?? []) yield { type: 'citation', choice, citation };
  yield { type: 'block-end', choice, ...(seal ? { seal } : {}) };
}

function usageOf({ tokens, counters, serviceTier }: Usage): Usage {
  return { tokens, ...(counters ? { counters } : {}), ...(serviceTier === undefined ? {} : { serviceTier }) };
}
