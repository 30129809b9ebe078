/** The requests by which the clouds give out tokens and temporary keys, and the reading of their answers. */
import { randomUUID } from 'node:crypto';
import { tokenUrlOf } from './access.ts';
import type { UpstreamAccess } from './access.ts';
import { entraAssertion, googleAssertion } from './assertions.ts';
import { clockAheadMs, clockSentence, mayBeClock } from './clock.ts';
import { readClientCertificate, readServiceAccountKey } from './secrets.ts';
import type { AwsKeys } from './secrets.ts';
import type { Fetched } from './tokens.ts';

const AZURE_SCOPE = 'https://cognitiveservices.azure.com/.default';
const GOOGLE_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/**
 * Life of the tokens and keys that are asked for, in seconds. The clouds give this life at most by default.
 */
const LIFE_SECONDS = 3_600;
const SECOND_MS = 1_000;

/** A request to a token endpoint. */
export interface TokenRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The answer of a token endpoint. */
export interface TokenAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** The effects that token grants use. */
export interface TokenIo {
  /** Sends a POST. Throws if the endpoint cannot be reached. */
  send(request: TokenRequest): Promise<TokenAnswer>;
  /** The identity token that the platform has issued to this node. Throws if there is none. */
  identityToken(cloud: 'AWS' | 'GOOGLE'): Promise<string>;
  /** Receives why a renewal failed while the present token is still valid. */
  renewalFailed(error: unknown): void;
  /** ms since the epoch. */
  wallNow(): number;
}

/** A token endpoint refused or sent no token. The message holds no secret; it is for the log. */
export class TokenRefused extends Error {
  /** Identifies this refusal: all requests that wait for the token receive the same one. */
  readonly id = randomUUID();
  /** HTTP status; 0 if the answer was no token. */
  readonly status: number;
  /**
   * By how much this clock is ahead of that of the endpoint, in ms; undefined if they hardly differ, or if
   * that is not the reason.
   */
  readonly clockAheadMs: number | undefined;

  constructor(message: string, status: number, aheadMs?: number) {
    super(message);
    this.name = 'TokenRefused';
    this.status = status;
    this.clockAheadMs = aheadMs;
  }
}

/** A bearer token for an access of a token kind. Throws TokenRefused, and the errors of the I/O. */
export function fetchToken(access: UpstreamAccess, secret: string, io: TokenIo): Promise<Fetched<string>> {
  switch (access.auth) {
    case 'AZURE_ENTRA':
      return entraToken(access, secret, io);
    case 'GOOGLE_SERVICE_ACCOUNT':
      return serviceAccountToken(access, secret, io);
    case 'GOOGLE_WORKLOAD_IDENTITY':
      return workloadToken(access, io);
    default:
      throw new Error(`${access.auth} has no tokens`);
  }
}

/** https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
async function entraToken(access: UpstreamAccess, secret: string, io: TokenIo): Promise<Fetched<string>> {
  const clientId = access.clientId ?? '';
  const certificate = readClientCertificate(secret);
  const audience = tokenUrlOf(access) ?? '';
  const proof: Record<string, string> = certificate
    ? {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: entraAssertion(certificate, { audience, now: io.wallNow(), clientId }),
      }
    : { client_secret: secret };
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    ...proof,
    scope: access.scope ?? AZURE_SCOPE,
  };
  return bearerOf(await ask(io, formRequest(access, form)));
}

async function serviceAccountToken(
  access: UpstreamAccess,
  secret: string,
  io: TokenIo,
): Promise<Fetched<string>> {
  const key = readServiceAccountKey(secret);
  if (!key) throw new TokenRefused('The key file of the service account cannot be read. Add it again.', 0);
  const audience = tokenUrlOf(access) ?? '';
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: googleAssertion(key, { audience, now: io.wallNow(), scope: GOOGLE_SCOPE }),
  };
  return bearerOf(await ask(io, formRequest(access, form)));
}

/** https://cloud.google.com/iam/docs/workload-identity-federation-with-other-providers */
async function workloadToken(access: UpstreamAccess, io: TokenIo): Promise<Fetched<string>> {
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: access.audience ?? '',
    scope: GOOGLE_SCOPE,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: await io.identityToken('GOOGLE'),
  };
  const federated = bearerOf(await ask(io, formRequest(access, form)));
  return access.serviceAccount === null ? federated : impersonated(access, federated.value, io);
}

/** https://cloud.google.com/iam/docs/create-short-lived-credentials-direct */
async function impersonated(access: UpstreamAccess, token: string, io: TokenIo): Promise<Fetched<string>> {
  const host =
    access.tokenUrl === null ? 'https://iamcredentials.googleapis.com' : new URL(access.tokenUrl).origin;
  const account = encodeURIComponent(access.serviceAccount ?? '');
  const answer = await ask(io, {
    url: `${host}/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ scope: [GOOGLE_SCOPE], lifetime: `${LIFE_SECONDS}s` }),
  });
  const { accessToken, expireTime } = objectOf(answer.body);
  if (typeof accessToken !== 'string') throw noToken();
  return { value: accessToken, livesMs: remainingMs(expireTime, answer) };
}

/**
 * Temporary keys for the identity token of this node.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
export async function fetchAwsKeys(access: UpstreamAccess, io: TokenIo): Promise<Fetched<AwsKeys>> {
  const form = {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: access.roleArn ?? '',
    RoleSessionName: 'gateway',
    DurationSeconds: String(LIFE_SECONDS),
    WebIdentityToken: await io.identityToken('AWS'),
  };
  const answer = await ask(io, formRequest(access, form));
  const member = (name: string): string | undefined =>
    new RegExp(`<${name}>([^<]+)</${name}>`).exec(answer.body)?.[1];
  const accessKeyId = member('AccessKeyId');
  const secretAccessKey = member('SecretAccessKey');
  const sessionToken = member('SessionToken');
  if (!accessKeyId || !secretAccessKey || !sessionToken) throw noToken();
  const value = { accessKeyId, secretAccessKey, sessionToken };
  return { value, livesMs: remainingMs(member('Expiration'), answer) };
}

function formRequest(access: UpstreamAccess, form: Record<string, string>): TokenRequest {
  return {
    url: tokenUrlOf(access) ?? '',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  };
}

/** The answer, if it is a success. Throws TokenRefused, which names the clock if it may be the reason. */
async function ask(io: TokenIo, request: TokenRequest): Promise<TokenAnswer> {
  const answer = await io.send({
    ...request,
    headers: { ...request.headers, accept: 'application/json, text/xml', 'accept-encoding': 'identity' },
  });
  if (answer.status === 200) return answer;
  const { host } = new URL(request.url);
  const code = codeOf(answer.body);
  const form = new URLSearchParams(request.body);
  const isSigned = form.has('assertion') || form.has('client_assertion');
  const isClock = mayBeClock(answer.body, isSigned);
  const aheadMs = isClock ? clockAheadMs(answer.headers, io.wallNow()) : undefined;
  const clock = aheadMs === undefined ? '' : ` ${clockSentence(aheadMs, host)}`;
  const reason = `${host} gave no token: ${answer.status}${code ? ` ${code}` : ''}.${clock}`;
  throw new TokenRefused(reason, answer.status, aheadMs);
}

/** The error code of a refusal: OAuth's with that of Entra, Google's status, or that of AWS. */
function codeOf(body: string): string | undefined {
  const xml = /<Code>([\w.]{1,80})<\/Code>/.exec(body)?.[1];
  if (xml) return xml;
  const { error, error_codes: numbers } = objectOf(body);
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : error;
  const [number] = Array.isArray(numbers) ? numbers : [];
  const code = typeof status === 'string' && /^[\w.-]{1,80}$/.test(status) ? status : undefined;
  return typeof number === 'number' ? `${code ?? 'refused'} (AADSTS${number})` : code;
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-5.1 */
function bearerOf({ body }: TokenAnswer): Fetched<string> {
  const { access_token: value, expires_in: seconds } = objectOf(body);
  // Entra's first version sends a number as text.
  const life = Number(seconds ?? LIFE_SECONDS);
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value) || !(life > 0)) throw noToken();
  return { value, livesMs: life * SECOND_MS };
}

/** Time in ms from the endpoint's own `Date` to this date: the clock of this node does not matter. */
function remainingMs(until: unknown, { headers }: TokenAnswer): number {
  const from = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  const remaining = typeof until === 'string' ? Date.parse(until) - from : Number.NaN;
  return Number.isFinite(remaining) ? remaining : LIFE_SECONDS * SECOND_MS;
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function noToken(): TokenRefused {
  return new TokenRefused(
    'The token endpoint answered without a token. Check the address of the endpoint.',
    0,
  );
}
