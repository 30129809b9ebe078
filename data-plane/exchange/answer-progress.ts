/**
 * Tracks the content of a streamed answer by its events, and whether its last event may have been its end.
 */
import type { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { ChatEvent } from '../dialects/canonical.ts';

/** The sum of an answer's events so far. */
export interface AnswerProgress {
  /** Number of choices that the client asked for; some upstreams give fewer. */
  choices: number;
  /** Choices with any output. */
  begun: ReadonlySet<number>;
  finished: ReadonlySet<number>;
  /** Whether there was any output: text, reasoning, a tool call, a refusal or a finish. */
  content: boolean;
  /** Whether the upstream's own end was seen. */
  done: boolean;
  failure: GatewayError | undefined;
  tokens: TokenCounts | undefined;
}

/** The progress before the first event. */
export function initialProgress(choices: number): AnswerProgress {
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

/** The progress after one more event. It does not change after `done` or a failure. */
export function afterEvent(progress: AnswerProgress, event: ChatEvent): AnswerProgress {
  if (progress.done || progress.failure) return progress;
  switch (event.type) {
    case 'usage':
      return { ...progress, tokens: event.tokens };
    case 'done':
      return { ...progress, done: true };
    case 'error':
      return { ...progress, failure: event.error };
    case 'start':
      return progress;
    case 'finish':
      return {
        ...withOutput(progress, event.choice),
        finished: new Set(progress.finished).add(event.choice),
      };
    default:
      return withOutput(progress, event.choice);
  }
}

/**
 * Whether a client may take the last event for the end of the answer: every choice that was begun is
 * finished, or as many as were asked for.
 */
export function mayBeComplete({ done, begun, finished, choices }: AnswerProgress): boolean {
  return done || (finished.size > 0 && (finished.size === begun.size || finished.size >= choices));
}

function withOutput(progress: AnswerProgress, choice: number): AnswerProgress {
  if (progress.begun.has(choice)) return progress;
  // Nearly all answers have one choice, and their sets are the same.
  const begun = progress.begun === NONE && choice === 0 ? FIRST : new Set(progress.begun).add(choice);
  return { ...progress, begun, content: true };
}

const NONE: ReadonlySet<number> = new Set();
const FIRST: ReadonlySet<number> = new Set([0]);
