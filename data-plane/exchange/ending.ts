/**
 * When a streamed answer has begun to end: from the last open choice's finish on, its bytes wait for the
 * charge.
 */
import type { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { ChatEvent } from '../dialects/canonical.ts';

/** What the events of an answer so far amount to. */
export interface Ending {
  /** How many answers were asked for; each must finish. */
  choices: number;
  finished: ReadonlySet<number>;
  /** The model has said something: text, reasoning, a tool call, a refusal or a finish. */
  content: boolean;
  /** Bytes from here on are held back. */
  held: boolean;
  /** The upstream's own end was seen. */
  done: boolean;
  failure: GatewayError | undefined;
  tokens: TokenCounts | undefined;
}

/** The state before the first event. */
export function openEnding(choices: number): Ending {
  return {
    choices,
    finished: new Set(),
    content: false,
    held: false,
    done: false,
    failure: undefined,
    tokens: undefined,
  };
}

/** The state after one more event. Nothing changes after `done` or a failure. */
export function observe(ending: Ending, event: ChatEvent): Ending {
  if (ending.done || ending.failure) return ending;
  switch (event.type) {
    case 'finish': {
      const finished = new Set(ending.finished).add(event.choice);
      return { ...ending, finished, content: true, held: ending.held || finished.size >= ending.choices };
    }
    case 'usage':
      return { ...ending, tokens: event.tokens };
    case 'done':
      return { ...ending, held: true, done: true };
    case 'error':
      return { ...ending, failure: event.error };
    case 'start':
      return ending;
    default:
      return ending.content ? ending : { ...ending, content: true };
  }
}
