/** What a streamed answer has come to by its events, and whether the last of them may have been its end. */
import type { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { ChatEvent } from '../dialects/canonical.ts';

/** What the events of an answer so far amount to. */
export interface Ending {
  /** How many answers were asked for: some upstreams give fewer. */
  choices: number;
  begun: ReadonlySet<number>;
  finished: ReadonlySet<number>;
  /** The model has said something: text, reasoning, a tool call, a refusal or a finish. */
  content: boolean;
  /** The upstream's own end was seen. */
  done: boolean;
  failure: GatewayError | undefined;
  tokens: TokenCounts | undefined;
}

/** The state before the first event. */
export function openEnding(choices: number): Ending {
  return {
    choices,
    begun: NONE,
    finished: NONE,
    content: false,
    done: false,
    failure: undefined,
    tokens: undefined,
  };
}

/** The state after one more event. Nothing changes after `done` or a failure. */
export function observe(ending: Ending, event: ChatEvent): Ending {
  if (ending.done || ending.failure) return ending;
  switch (event.type) {
    case 'usage':
      return { ...ending, tokens: event.tokens };
    case 'done':
      return { ...ending, done: true };
    case 'error':
      return { ...ending, failure: event.error };
    case 'start':
      return ending;
    case 'finish':
      return { ...begin(ending, event.choice), finished: new Set(ending.finished).add(event.choice) };
    default:
      return begin(ending, event.choice);
  }
}

/**
 * Whether nothing that was begun is left to be said, or as much was said as was asked for: then the last
 * event may have been the answer's end.
 */
export function mayBeOver({ done, begun, finished, choices }: Ending): boolean {
  return done || (finished.size > 0 && (finished.size === begun.size || finished.size >= choices));
}

function begin(ending: Ending, choice: number): Ending {
  if (ending.begun.has(choice)) return ending;
  return { ...ending, begun: new Set(ending.begun).add(choice), content: true };
}

const NONE: ReadonlySet<number> = new Set();
