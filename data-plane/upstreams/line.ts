/** Sessions with an upstream: how one is opened, and what comes instead of it. */
import type { Candidate, Question } from '../exchange/exchange.ts';

/** An upstream's refusal as it came. */
export interface RefusedAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A session with an upstream. */
export interface Line {
  /** Calls the listener once when the session is over, however it ended. */
  onClose(listener: () => void): void;
}

/** How a session is opened. */
export interface Dial<L extends Line> extends Pick<Question<unknown>, 'preferred' | 'capable'> {
  /** The open session, or the upstream's refusal. Throws `upstream_…` where the upstream is not reached. */
  open(candidate: Candidate): Promise<L | RefusedAnswer>;
}
