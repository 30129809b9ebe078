/**
 * The headers of every request to an upstream. Of the client's headers, only the trace context is passed
 * on.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Candidate } from '../upstreams/attempt.ts';
import { plainAuthorization } from '../upstreams/clouds/cloud-requests.ts';

const TRACE_HEADERS = ['traceparent', 'tracestate'] as const;

/** Credential, identity and trace context. `accept` names the media types that the client can take. */
export function outgoingHeaders(
  candidate: Candidate,
  client: IncomingHttpHeaders,
  accept: string,
): Record<string, string> {
  const headers: Record<string, string> = {
    'accept-encoding': 'identity',
    accept,
    'user-agent': 'gateway',
    ...plainAuthorization(candidate),
  };
  for (const name of TRACE_HEADERS) {
    const value = client[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return headers;
}
