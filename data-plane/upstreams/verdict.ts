/**
 * Meaning of an upstream's error status: for the client, for the credential, and for the upstream's health.
 * Pure.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { Candidate } from './attempt.ts';

/** How long a throttled credential is suspended if the upstream names no time, in ms. */
const COOL_DOWN_MS = 5_000;
/** The longest suspension that an upstream may ask for, in ms. */
const COOL_DOWN_MAX_MS = 300_000;
/** How long a refused credential is suspended, in ms: the operator may have paid the bill by then. */
export const CREDENTIAL_REFUSED_MS = 300_000;

/** Consequences of an error status. */
export interface Verdict {
  /** The failure as the client sees it. */
  error: GatewayError;
  /**
   * Whether the upstream itself is unwell: this counts towards its ejection. So does a 401 to a request
   * without a credential, because no other credential can be used instead.
   */
  unwell: boolean;
  /** How long this credential is suspended, in ms; 0 for not at all. */
  suspendCredentialMs: number;
  /**
   * Possible meaning of the refusal if other requests meet it, too: the credential is no longer valid, or it
   * may not use this route. It may as well be about an object that only this request names.
   */
  doubt?: 'credential' | 'route';
  /** Whether another credential of the upstream may be accepted: it has limits and rights of its own. */
  aboutCredential: boolean;
}

/** The consequences of a refused credential, besides the error of the client. */
export const CREDENTIAL_REFUSED: Omit<Verdict, 'error'> = {
  unwell: false,
  suspendCredentialMs: 0,
  doubt: 'credential',
  aboutCredential: true,
};

interface ErrorResponse {
  status: number;
  body: string;
  retryAfterMs: number | undefined;
  /** The catalog's name of the model. */
  model: string;
}

/** Only 400, 413 and 422 are about the client's own request; every other status concerns the operator. */
export function judge(
  { status, body, retryAfterMs, model }: ErrorResponse,
  { dialect, native, route, credential }: Candidate,
): Verdict {
  const error = dialect.outbound.decodeError(status, withModelName(body, route.upstreamModel, model));
  if (status === 400 || status === 413 || status === 422)
    return {
      error: native ? error : withoutBody(error),
      unwell: false,
      suspendCredentialMs: 0,
      aboutCredential: false,
    };
  if (status === 429 || status === 529) {
    const suspendCredentialMs = Math.min(retryAfterMs ?? COOL_DOWN_MS, COOL_DOWN_MAX_MS);
    const busy = new GatewayError('upstream_busy', error.message, {
      cause: error.details.cause,
      retryAfterMs: suspendCredentialMs,
    });
    return { error: busy, unwell: false, suspendCredentialMs, aboutCredential: status === 429 };
  }
  const isRefused = status === 401 || status === 403;
  return {
    error: error.code.startsWith('upstream_') ? error : asUpstreamFailure(error),
    // A 501 is about the endpoint: some upstreams do not count tokens.
    unwell: status === 408 || (status >= 500 && status !== 501) || (status === 401 && !credential),
    suspendCredentialMs: 0,
    // Without a credential, a 403 counts for the route, as a failure of its upstream does.
    aboutCredential: isRefused && credential !== undefined,
    ...(status === 401 ? { doubt: 'credential' } : {}),
    ...(status === 403 ? { doubt: 'route' } : {}),
  };
}

/**
 * Whether the upstream failed, rather than the client's request or because of a cut. Only then another
 * upstream may be asked, and only then the failure counts against this one.
 */
export function isUpstreamFailure(error: GatewayError): boolean {
  return (
    error.code === 'upstream_failed' || error.code === 'upstream_busy' || error.code === 'upstream_timeout'
  );
}

/** Whether the connection broke before the upstream sent anything. */
export function isBrokenConnection(error: GatewayError): boolean {
  const { cause } = error.details;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
}

/**
 * The wait that an upstream asks for by `retry-after-ms` or `retry-after` (seconds or a date), in ms from
 * `now` (ms of the wall clock); undefined without a readable header.
 */
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

/** Characters with a meaning in regular expressions. */
const SPECIAL = /[.*+?^${}()|[\]\\/]/g;

/** The JSON text with the catalog's name of the model, because the upstream's name reveals the supplier. */
export function withModelName(body: string, upstreamModel: string, model: string): string {
  if (upstreamModel === model || !body.includes(upstreamModel)) return body;
  const whole = new RegExp(
    `(?<![\\w-])${upstreamModel.replaceAll(SPECIAL, String.raw`\$&`)}(?![\\w-]|\\.\\w)`,
    'g',
  );
  const name = JSON.stringify(model).slice(1, -1);
  return body.replaceAll(whole, () => name);
}

/** The error without the upstream's body, which is in another format than the client's. */
function withoutBody(error: GatewayError): GatewayError {
  const { cause, parameter } = error.details;
  return new GatewayError(error.code, error.message, {
    cause,
    ...(parameter === undefined ? {} : { parameter }),
  });
}

function asUpstreamFailure(error: GatewayError): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream could not answer. Try again later.', {
    cause: error,
  });
}
