/** Sessions with an upstream: how one is requested, and the upstream's refusal. */
import type { Candidate, ForwardedRequest } from './attempt.ts';
import type { OutgoingRequest } from './send.ts';

/** An upstream's refusal of a request or session, as it came. */
export interface RefusedResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** An open session with an upstream. */
export interface UpstreamSession {
  /** Calls the listener once when the session is over, however it ended. */
  onClose(listener: () => void): void;
}

/** The request as the upstream takes it, authorized. Throws `upstream_…` if no token is given. */
export type Prepare = (outgoing: OutgoingRequest) => Promise<OutgoingRequest>;

/** A request for a session of type `S`. */
export interface SessionRequest<S extends UpstreamSession> extends Pick<
  ForwardedRequest<unknown>,
  'preferred' | 'capable'
> {
  /** The open session, or the upstream's refusal. Throws `upstream_…` if the upstream cannot be reached. */
  open(candidate: Candidate, prepare: Prepare): Promise<S | RefusedResponse>;
}
