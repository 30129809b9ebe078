/** An exchange is one billed request together with its answer: read, sent to an upstream, delivered. */
import type { BilledRequest } from '../admission/admit.ts';
import type { Bill } from '../bill.ts';
import type { Reply } from '../call/reply.ts';
import type { ForwardedRequest } from '../upstreams/attempt.ts';

/** A billed request of any endpoint family, and how upstreams are asked for its answer. */
export interface Exchange extends BilledRequest, ForwardedRequest<Answer> {
  /** Whether the answer is streamed. */
  readonly streamed: boolean;
}

/** An answer that may be delivered. */
export interface Answer {
  routeId: string;
  /**
   * Writes the answer, and commits the bill before the answer's end is sent. Throws the failure that broke
   * the answer; by then the client has received it.
   */
  deliver(reply: Reply, bill: Bill): Promise<void>;
}
