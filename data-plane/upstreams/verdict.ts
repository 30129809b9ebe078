/**
 * What an upstream's error status means: for the client, for the credential, and for asking elsewhere.
 * Pure.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { Candidate } from '../exchange/exchange.ts';

/** How long a throttled credential rests when the upstream names no time, in ms. */
export const COOL_DOWN_MS = 5_000;
/** No upstream may rest a credential longer than this, in ms. */
const COOL_DOWN_MAX_MS = 300_000;
/** A refused credential is tried again after this long, in ms: somebody may have paid the bill meanwhile. */
export const CREDENTIAL_REFUSED_MS = 300_000;

export interface Verdict {
  error: GatewayError;
  /** Another upstream may do better. */
  elsewhere: boolean;
  /** The upstream itself is unwell: counts towards its ejection. */
  unwell: boolean;
  /** How long this credential is not to be used, in ms. */
  restCredentialMs: number;
}

export interface Refusal {
  status: number;
  body: string;
  retryAfterMs: number | undefined;
}

/** Only 400, 413 and 422 speak about the client's own request; everything else is the operator's business. */
export function judge({ status, body, retryAfterMs }: Refusal, { dialect, native }: Candidate): Verdict {
  const error = dialect.outbound.decodeError(status, body);
  if (status === 400 || status === 413 || status === 422) {
    return {
      error: native ? error : withoutBody(error),
      elsewhere: false,
      unwell: false,
      restCredentialMs: 0,
    };
  }
  if (status === 429 || status === 529) {
    const rest = Math.min(retryAfterMs ?? COOL_DOWN_MS, COOL_DOWN_MAX_MS);
    const busy = new GatewayError('upstream_busy', error.message, {
      cause: error.details.cause,
      retryAfterMs: rest,
    });
    return { error: busy, elsewhere: true, unwell: false, restCredentialMs: rest };
  }
  const refused = status === 401 || status === 403;
  const unwell = status === 408 || status >= 500;
  return {
    error: error.code.startsWith('upstream_') ? error : withCode(error),
    elsewhere: true,
    unwell,
    restCredentialMs: refused ? CREDENTIAL_REFUSED_MS : 0,
  };
}

/**
 * Whether a failure lets another upstream be asked: never after a cut, and never for the client's own
 * mistake.
 */
export function isElsewhere(error: GatewayError): boolean {
  return (
    error.code === 'upstream_failed' || error.code === 'upstream_busy' || error.code === 'upstream_timeout'
  );
}

/** Whether the connection broke without a word of answer. */
export function isBrokenConnection(error: GatewayError): boolean {
  const { cause } = error.details;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/** `retry-after-ms` or `retry-after` (seconds or a date) as ms from `now` (ms of the wall clock). */
export function retryAfterOf(
  headers: Record<string, string | string[] | undefined>,
  now: number,
): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const text = headers['retry-after'];
  if (typeof text !== 'string') return undefined;
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** The body is in another format than the client's; its message is translated. */
function withoutBody(error: GatewayError): GatewayError {
  const { cause, parameter } = error.details;
  return new GatewayError(error.code, error.message, {
    cause,
    ...(parameter === undefined ? {} : { parameter }),
  });
}

function withCode(error: GatewayError): GatewayError {
  return new GatewayError('upstream_failed', 'The model could not answer. Try again later.', {
    cause: error,
  });
}
