/** One request on its way through the pipeline. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Config } from './config/config.ts';
import type { Cut } from './cut.ts';
import type { Reply } from './reply.ts';

/** A request as the pipeline sees it. Everything in it is fixed when the request arrives. */
export interface Call {
  /** Minted by the node: 128 random bits in hex. */
  id: string;
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Address of the client, behind trusted proxies. */
  address: string;
  /** ms of the wall clock. */
  at: number;
  /** ms of a monotonic clock. */
  startedAt: number;
  /** The configuration the request started with. */
  config: Config;
  cut: Cut;
  reply: Reply;
  /** Reads the body; at most once. */
  body(limitBytes: number): Promise<Buffer>;
  /** The body as it comes, instead of `body`. */
  incoming(): Readable;
  /**
   * There where the client sent an Idempotency-Key: whoever reads the body by `incoming` says here, once,
   * what it was, as a digest that is the same for the same content however it was cut and bounded.
   */
  fingerprint?(digest: string): void;
  /** Calls the listener once when the answer has ended or the client is gone. */
  onEnd(listener: () => void): void;
}

/** A call whose configuration may be missing: then only failures can be told. */
export type OpenCall = Omit<Call, 'config'>;
