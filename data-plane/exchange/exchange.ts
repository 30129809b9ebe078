/** What the pipeline asks of an endpoint family, whatever travels inside: open, ask, deliver. */
import type { DialectName } from '@gateway/shared/catalog';
import type { GatewayError } from '@gateway/shared/failures';
import type { ProviderRecord, RouteRecord } from '@gateway/shared/records';
import type { CompiledCredential, SoldModel } from '../config/config.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Bill } from '../bill.ts';
import type { Reply } from '../reply.ts';
import type { Outgoing, UpstreamAnswer } from '../upstreams/send.ts';

/** A request as the upstreams see it; `A` is what comes of it. */
export interface Question<A> {
  /** The format that needs no translation. */
  readonly preferred: DialectName | undefined;
  /** The upstream formats that can answer it; absent: every one. */
  readonly capable?: readonly DialectName[];
  /** The request for one upstream. Throws `invalid_request` where the client forbade losses. */
  outgoing(candidate: Candidate): Outgoing;
  /**
   * Waits until the answer may be delivered: whole and valid, or its first content there. Throws
   * `upstream_…` while another
   * upstream may still be asked.
   */
  receive(attempt: Attempt): Promise<A>;
}

/** A billed request that was read just far enough to know what it wants. */
export interface Exchange extends Question<Answer> {
  /** The catalog name that the client sent. */
  readonly model: string;
  readonly streamed: boolean;
  /** Throws `invalid_request` where the request wants more than one flat price of this model buys. */
  checkLimits(model: SoldModel): void;
}

/** One upstream that may be asked, with the credential to ask it with. */
export interface Candidate {
  route: RouteRecord;
  provider: ProviderRecord;
  /** Undefined for upstreams that need none. */
  credential: CompiledCredential | undefined;
  dialect: Dialect;
  native: boolean;
}

/** One upstream that answered with a success status. */
export interface Attempt {
  answer: UpstreamAnswer;
  candidate: Candidate;
  /** Says how it went; the first call counts. */
  settle(error?: GatewayError): void;
}

/** An answer that may be delivered. */
export interface Answer {
  routeId: string;
  /**
   * Writes the answer and commits the bill before its end leaves. Throws what broke it; the client was told
   * already.
   */
  deliver(reply: Reply, bill: Bill): Promise<void>;
}
