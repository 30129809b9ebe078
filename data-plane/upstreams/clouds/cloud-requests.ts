/**
 * Prepares requests to upstreams with an access of their own: brings them into the cloud's shape, and
 * authorizes them with a token or a signature.
 */
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import type { AuthKind, UpstreamAccess } from '@gateway/shared/clouds/access';
import { CloudAuthorization } from '@gateway/shared/clouds/authorization';
import type { CloudCaller } from '@gateway/shared/clouds/authorization';
import { clockAheadMs, clockSentence, isSignatureRefusal, mayBeClock } from '@gateway/shared/clouds/clock';
import { UnknownRequest, styled } from '@gateway/shared/clouds/styles';
import { TokenRefused } from '@gateway/shared/clouds/token-grants';
import type { TokenIo } from '@gateway/shared/clouds/token-grants';
import { GatewayError } from '@gateway/shared/failures';
import type { Call } from '../../call/call.ts';
import { Cut } from '../../call/cut.ts';
import { isBytes } from '../../call/own-bytes.ts';
import { Pieces } from '../../call/pieces.ts';
import type { Log } from '../../log.ts';
import type { Attempt, Candidate } from '../attempt.ts';
import { addressOf } from '../connections.ts';
import type { Connections } from '../connections.ts';
import { send } from '../send.ts';
import type { OutgoingRequest } from '../send.ts';
import type { RefusedResponse } from '../session.ts';
import type { AttemptResult, UpstreamStates } from '../states.ts';
import type { Suspensions } from '../suspensions.ts';
import { CREDENTIAL_REFUSED } from '../verdict.ts';
import { signWith } from './signing.ts';

/** Timeouts of a token endpoint, in ms: short, because requests wait for the token. */
const TOKEN_TIMEOUTS = {
  connectMs: 5_000,
  headersMs: 10_000,
  firstContentMs: 10_000,
  idleMs: 10_000,
  totalMs: 15_000,
};
/** Maximum size of a token endpoint's answer, in bytes. */
const TOKEN_BYTES = 64 * 1024;
/** The same reason is written to the log at most this often for one upstream, in ms. */
const LOG_EVERY_MS = 60_000;

/** Kinds whose requests carry the time of this machine. */
const SIGNED_KINDS: readonly AuthKind[] = ['AWS_KEYS', 'AWS_WEB_IDENTITY'];

/** The JSON object with members set (JSON text) or left out (undefined). */
export type EditBody = (body: Buffer, edits: ReadonlyMap<string, string | undefined>) => Buffer;

interface CloudOptions {
  connections: Connections;
  /** ms of a monotonic clock. */
  now: () => number;
  /** ms since the epoch. */
  wallNow: () => number;
  identityToken: TokenIo['identityToken'];
  editBody: EditBody;
  /** Receives by how much the node's clock was ahead at a refusal, and which credentials are suspended. */
  states: Pick<UpstreamStates, 'clockDiffers' | 'tokenClockDiffers' | 'suspended'>;
  suspensions: Suspensions;
  log: Log;
}

/** The clouds of a node, with their tokens. */
export class CloudRequests {
  readonly #options: CloudOptions;
  readonly #authorization: CloudAuthorization;
  /** When a reason was last logged, in ms of the monotonic clock, by provider. */
  readonly #loggedAt = new Map<string, number>();

  constructor(options: CloudOptions) {
    this.#options = options;
    this.#authorization = new CloudAuthorization(options.now, signWith);
  }

  /**
   * The request as the upstream takes it. Waits for a token if there is none. Throws `upstream_failed` if the
   * cloud has no such request or gives no token, and the reason of the cut. A refused token counts as a
   * refusal of the credential with 401, if the upstream has one.
   */
  async prepare(
    outgoing: OutgoingRequest,
    attempt: Attempt,
    { cut }: Pick<Call, 'cut'>,
  ): Promise<OutgoingRequest> {
    const { candidate, walletId } = attempt;
    try {
      const prepared = await this.#prepared(outgoing, candidate);
      cut.throwIfCut();
      return prepared;
    } catch (error) {
      if (!(error instanceof CredentialRefusal)) throw error;
      attempt.credentialRefused = true;
      const { states, suspensions, now } = this.#options;
      const refused = { refusalId: error.refusalId, walletId, now: now() };
      states.suspended(candidate, suspensions.refused({ ...CREDENTIAL_REFUSED, error }, candidate, refused));
      throw error;
    }
  }

  async #prepared(outgoing: OutgoingRequest, candidate: Candidate): Promise<OutgoingRequest> {
    const { provider, route } = candidate;
    const access = provider.access ?? DEFAULT_ACCESS;
    const { origin, prefix } = addressOf(provider);
    const shaped = shapeOf(access, {
      path: outgoing.path.slice(prefix.length),
      model: route.upstreamModel,
      headers: outgoing.headers,
    });
    const path = prefix + shaped.path;
    const sent = outgoing.body instanceof Pieces ? outgoing.body.whole() : outgoing.body;
    const body = this.#edited(sent, shaped.edits);
    const { method } = outgoing;
    const unsigned = { method, url: origin + path, body: isBytes(body) ? body : undefined };
    const authorization = await this.#authorize(
      { ...unsigned, body: body === null ? '' : unsigned.body },
      candidate,
    );
    return { method, path, body, headers: { ...shaped.headers, ...authorization } };
  }

  /**
   * The refusal in the format of the dialect. Forgets a refused token. Logs and reports the difference of the
   * clocks if it may be the reason. A refusal because of the time of a signature has the status 403.
   */
  refused(response: RefusedResponse, candidate: Candidate): RefusedResponse {
    const { provider, credential } = candidate;
    const { access } = provider;
    if (!access) return response;
    const text = `${String(response.headers['x-amzn-errortype'] ?? '')} ${response.body}`;
    const isSigned = SIGNED_KINDS.includes(access.auth);
    const { status } = response;
    const isLate = isSigned && status === 400 && isSignatureRefusal(response);
    if (status === 401 || status === 403 || isLate) {
      this.#authorization.refused({ access, credential });
      const isClock = mayBeClock(text, isSigned);
      const aheadMs = isClock ? clockAheadMs(response.headers, this.#options.wallNow()) : undefined;
      this.#options.states.clockDiffers(provider, aheadMs);
      const { host } = new URL(addressOf(provider).origin);
      if (aheadMs !== undefined) this.#warn(candidate, clockSentence(aheadMs, host));
    }
    return { ...response, status: isLate ? 403 : status, body: inMessagesFormat(response.body, candidate) };
  }

  #edited(
    body: OutgoingRequest['body'],
    edits: ReadonlyMap<string, string | undefined>,
  ): OutgoingRequest['body'] {
    return edits.size > 0 && isBytes(body) ? this.#options.editBody(Buffer.from(body), edits) : body;
  }

  async #authorize(
    request: Parameters<CloudAuthorization['headers']>[0],
    candidate: Candidate,
  ): Promise<Record<string, string> | undefined> {
    const { provider, credential } = candidate;
    const access = provider.access ?? DEFAULT_ACCESS;
    const caller: CloudCaller = { access, credential, io: this.#ioFor(candidate) };
    try {
      return await this.#authorization.headers(request, caller);
    } catch (cause) {
      this.#warn(candidate, reasonOf(cause));
      if (cause instanceof TokenRefused) this.#options.states.tokenClockDiffers(provider, cause.clockAheadMs);
      // Without a credential, the upstream is out of reach for every request of this node.
      if (credential && cause instanceof TokenRefused && !isTemporary(cause.status))
        throw new CredentialRefusal(cause);
      throw cause instanceof GatewayError ? cause : unreachable(cause);
    }
  }

  /** Token endpoints are asked under the same address rules, and through the same proxy, as the upstream. */
  #ioFor(candidate: Candidate): TokenIo {
    const { provider } = candidate;
    const { connections, identityToken, states, wallNow } = this.#options;
    return {
      identityToken,
      wallNow,
      renewalFailed: (cause) => {
        this.#warn(candidate, reasonOf(cause));
        if (cause instanceof TokenRefused) states.tokenClockDiffers(provider, cause.clockAheadMs);
      },
      send: async ({ url, headers, body }) => {
        const { origin, pathname, search } = new URL(url);
        const pool = connections.poolAt({ ...provider, baseUrl: origin });
        const outgoing: OutgoingRequest = { method: 'POST', path: pathname + search, headers, body };
        const answer = await send(pool, outgoing, { timeouts: TOKEN_TIMEOUTS, cut: new Cut() });
        const text = (await answer.whole(TOKEN_BYTES)).toString('utf8');
        if (answer.status === 200) states.tokenClockDiffers(provider, undefined);
        return { status: answer.status, headers: answer.headers, body: text };
      },
    };
  }

  #warn({ provider }: Candidate, reason: string): void {
    const now = this.#options.now();
    if (now - (this.#loggedAt.get(provider.id) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return;
    this.#loggedAt.set(provider.id, now);
    const { id: providerId, name } = provider;
    this.#options.log.warn({ providerId, provider: name, reason }, 'an upstream refused its authentication');
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Whether a token endpoint may give a token later: it is overloaded or out of order. */
function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** The result of an attempt that failed. A token that was refused says nothing against the upstream. */
export function resultOf(error: GatewayError): AttemptResult {
  return error instanceof CredentialRefusal ? { error, refusal: { status: 401 } } : { error };
}

/** The failure of a credential for which no token was given: another credential may get one. */
class CredentialRefusal extends GatewayError {
  /** The id of the TokenRefused. */
  readonly refusalId: string;

  constructor(cause: TokenRefused) {
    super('upstream_failed', 'The upstream could not answer. Try again later.', { cause });
    this.name = 'CredentialRefusal';
    this.refusalId = cause.id;
  }
}

/** The header that carries a secret that is sent as it is; none for tokens and signatures. */
export function plainAuthorization({
  provider,
  credential,
  dialect,
}: PlainCandidate): Record<string, string> {
  if (!credential) return {};
  const { secret } = credential;
  switch (provider.access?.auth ?? 'API_KEY') {
    case 'API_KEY':
      return dialect.outbound.authorize(secret);
    case 'BEARER':
      return { authorization: `Bearer ${secret}` };
    case 'AZURE_API_KEY':
      // https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference#authentication
      return { 'api-key': secret };
    default:
      return {};
  }
}

type PlainCandidate = Pick<Candidate, 'provider' | 'credential' | 'dialect'>;

function shapeOf(access: UpstreamAccess, request: Parameters<typeof styled>[1]): ReturnType<typeof styled> {
  try {
    return styled(access, request);
  } catch (cause) {
    throw cause instanceof UnknownRequest ? unreachable(cause) : cause;
  }
}

/** Bedrock and Vertex AI report errors of their own around the model's messages format. */
function inMessagesFormat(body: string, { provider, dialect }: Candidate): string {
  if (dialect.name !== 'anthropic-messages' || (provider.access?.style ?? 'STANDARD') === 'STANDARD')
    return body;
  const message = messageOf(body);
  if (message === undefined) return body;
  return JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
}

/** The message of Bedrock's `{"message"}` or Google's `{"error": {"message"}}`; undefined without one. */
function messageOf(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first !== 'object' || first === null || 'type' in first) return undefined;
    const holder: unknown = 'error' in first ? first.error : first;
    if (typeof holder !== 'object' || holder === null || !('message' in holder)) return undefined;
    return typeof holder.message === 'string' ? holder.message : undefined;
  } catch {
    return undefined;
  }
}

function unreachable(cause: unknown): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream could not answer. Try again later.', { cause });
}
