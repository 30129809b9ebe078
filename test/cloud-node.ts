/**
 * A node with one upstream at a fake cloud. The cloud checks tokens, signatures and their times against its
 * own clock, and refuses with the texts of the real ones.
 */
import { X509Certificate, constants, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bindingOf } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import type { UpstreamReport } from '@gateway/shared/upstream-health';
import { UpstreamStates } from '../data-plane/upstreams/states.ts';
import { AWS_KEYS, KEY_FILE, TokenServer, accessOf, assumedRole, claimsOf } from './clouds.ts';
import { makeRoute, startNode } from './request-path.ts';
import type { CallResult, TestNode } from './request-path.ts';
import { selfSigned } from './tls.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream, Play, SeenRequest } from './upstream.ts';

/** A kind of authentication that depends on tokens or on the time. */
export type CloudKind =
  | 'Entra client secret'
  | 'Entra certificate'
  | 'Google service account'
  | 'Google workload identity'
  | 'AWS access keys'
  | 'AWS web identity';

const SETTINGS: Record<CloudKind, { access: Partial<UpstreamAccess>; secret?: string }> = {
  'Entra client secret': {
    access: { auth: 'AZURE_ENTRA', tenantId: 'tenant', clientId: 'client' },
    secret: 'client-secret',
  },
  'Entra certificate': { access: { auth: 'AZURE_ENTRA', tenantId: 'tenant', clientId: 'client' } },
  'Google service account': { access: { auth: 'GOOGLE_SERVICE_ACCOUNT' }, secret: KEY_FILE },
  'Google workload identity': {
    access: { auth: 'GOOGLE_WORKLOAD_IDENTITY', audience: '//iam.googleapis.com/a', serviceAccount: 'a@b.c' },
  },
  'AWS access keys': { access: { auth: 'AWS_KEYS', region: 'us-east-1' }, secret: JSON.stringify(AWS_KEYS) },
  'AWS web identity': {
    access: { auth: 'AWS_WEB_IDENTITY', region: 'us-east-1', roleArn: 'arn:aws:iam::123456789012:role/a' },
  },
};
const ANSWER: Play = {
  chunks: [
    JSON.stringify({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    }),
  ],
};
/** The clouds accept signatures and assertions of this age, in ms. */
const SKEW_MS = 300_000;
/** How long a token request takes, in ms: requests that need the token meet during it. */
const TOKEN_MS = 50;

/** The clocks of the node, as differences from those of the machine, in ms. */
interface Clocks {
  monotonic: number;
  wall: number;
  /** Where the machine's monotonic clock stands still for the node, in ms; undefined if it goes on. */
  stoppedAt?: number;
}

/** A node, its fake cloud, and the means to change both. */
export interface CloudNode {
  clocks: Clocks;
  tokens: TokenServer;
  /** The answer to requests of customers, if it is not the usual one. */
  refusal: Play | undefined;
  /** Number of requests to the token endpoint, those for a step of one token included. */
  tokenRequests(): number;
  /** Number of requests of customers that reached the cloud. */
  requests(): number;
  /** The log of the node, one entry a line. */
  logged(): string;
  /** The health of the cloud. */
  health(): UpstreamReport | undefined;
  /** Adds an upstream without authentication, to which requests go only if the cloud fails. */
  addSpare(origin: string): void;
  call(): Promise<CallResult>;
  close(): Promise<void>;
}

/** Starts both. Tokens and temporary keys live this long, in ms. */
export async function startCloud(kind: CloudKind, livesMs: number): Promise<CloudNode> {
  const clocks: Clocks = { monotonic: 0, wall: 0 };
  const now = () => (clocks.stoppedAt ?? performance.now()) + clocks.monotonic;
  const tokens = new TokenServer(livesMs, now);
  const upstream = await startUpstream(() => ANSWER);
  const pair = kind === 'Entra certificate' ? await selfSigned(['gateway'], 'RSA') : undefined;
  const secret = pair
    ? JSON.stringify({ certificate: pair.certificate, privateKey: pair.key })
    : SETTINGS[kind].secret;
  const play = playOf({ kind, tokens, livesMs, certificate: pair?.certificate });
  const states = new UpstreamStates({ now, random: () => 0 });
  const logged: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'gateway-identity-'));
  const file = join(folder, 'token');
  writeFileSync(file, 'identity.of.node\n');
  const note = (fields: object): void => void logged.push(JSON.stringify(fields));
  const node = await startNode({
    now,
    wallNow: () => Date.now() + clocks.wall,
    upstreamStates: states,
    identityTokenFiles: { AWS: file, GOOGLE: file },
    log: { info: note, warn: note, error: note },
  });
  connect(node, upstream, { kind, secret });
  const cloud: CloudNode = {
    clocks,
    tokens,
    refusal: undefined,
    tokenRequests: () => upstream.seen.filter(isToken).length,
    requests: () => upstream.seen.filter((seen) => !isToken(seen)).length,
    logged: () => logged.join('\n'),
    health: () => states.report().upstreams.find(({ providerId }) => providerId === 'provider-of-route-1'),
    addSpare: (origin) => {
      const route = { id: 'route-2', priority: 2 };
      node.store.routes.push(makeRoute(origin, { route, credentials: [] }));
    },
    call: () => node.call({ body: { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] } }),
    close: async () => {
      await node.close();
      await upstream.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  upstream.play = (request, count) => (isToken(request) ? undefined : cloud.refusal) ?? play(request, count);
  return cloud;
}

function isToken({ path }: SeenRequest): boolean {
  return path !== '/v1/chat/completions';
}

function connect(
  node: TestNode,
  { origin }: FakeUpstream,
  { kind, secret }: { kind: CloudKind; secret: string | undefined },
): void {
  const { access: changes } = SETTINGS[kind];
  const access = accessOf({ ...changes, ...(kind !== 'AWS access keys' && { tokenUrl: `${origin}/token` }) });
  const credential = { id: 'crd_1', origin, secret: secret ?? '', binding: bindingOf(access) };
  node.store.routes = [
    makeRoute(origin, { provider: { access }, credentials: secret === undefined ? [] : [credential] }),
  ];
}

interface Cloud {
  kind: CloudKind;
  tokens: TokenServer;
  livesMs: number;
  /** The certificate that Entra knows of the application, in PEM. */
  certificate: string | undefined;
}

function playOf(cloud: Cloud): FakeUpstream['play'] {
  return (request) => {
    if (!isToken(request))
      return cloud.kind.startsWith('AWS') ? signed(request, cloud) : bearer(request, cloud);
    const { chunks = [], ...play } = cloud.tokens.refusal ?? tokenFor(request, cloud);
    return { ...play, chunks: ['', ...chunks], gapMs: TOKEN_MS };
  };
}

function bearer(request: SeenRequest, { tokens }: Cloud): Play {
  return tokens.accepts(request) ? ANSWER : { status: 401, chunks: ['{"error":{"message":"expired"}}'] };
}

/**
 * Checks the age of the signature, and the temporary keys.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html
 */
function signed({ headers }: SeenRequest, { kind, tokens }: Cloud): Play {
  const date = String(headers['x-amz-date']);
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  const ageMs = Date.now() - at;
  if (Math.abs(ageMs) > SKEW_MS) {
    const reason = ageMs > 0 ? 'Signature expired' : 'Signature not yet current';
    return awsRefusal('InvalidSignatureException', `${reason}: ${date}`);
  }
  const session = String(headers['x-amz-security-token']);
  if (kind === 'AWS web identity' && !tokens.isValid(session))
    return awsRefusal('ExpiredTokenException', 'The security token included in the request is expired');
  return ANSWER;
}

/** A refusal of AWS. */
export function awsRefusal(code: string, message: string, status = 403): Play {
  return { status, headers: { 'x-amzn-errortype': code }, chunks: [JSON.stringify({ message })] };
}

function tokenFor(request: SeenRequest, cloud: Cloud): Play {
  const { kind, tokens, livesMs } = cloud;
  const form = new URLSearchParams(request.body);
  if (kind === 'AWS web identity') {
    const sessionToken = tokens.next();
    return assumedRole({ ...AWS_KEYS, sessionToken }, new Date(Date.now() + livesMs));
  }
  if (kind === 'Entra certificate') return assertedToken(form, cloud);
  if (kind === 'Google service account' && !isTimely(claimsOf(form)))
    return {
      status: 400,
      chunks: [
        JSON.stringify({
          error: 'invalid_grant',
          error_description:
            'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. ' +
            'Check your iat and exp values in the JWT claim.',
        }),
      ],
    };
  if (kind !== 'Google workload identity') return tokens.issue();
  if (request.path === '/token') return { chunks: ['{"access_token":"federated","expires_in":3600}'] };
  const expireTime = new Date(Date.now() + livesMs).toISOString();
  return { chunks: [JSON.stringify({ accessToken: tokens.next(), expireTime })] };
}

function isTimely(claims: Record<string, unknown> | undefined): boolean {
  const seconds = Date.now() / 1_000;
  const [from, until] = [Number(claims?.['iat']), Number(claims?.['exp'])];
  return Math.abs(seconds - from) <= SKEW_MS / 1_000 && until > seconds;
}

/** https://learn.microsoft.com/en-us/entra/identity-platform/certificate-credentials */
function assertedToken(form: URLSearchParams, { tokens, certificate = '' }: Cloud): Play {
  const [header = '', claims = '', signature = ''] = (form.get('client_assertion') ?? '').split('.');
  const known = new X509Certificate(certificate);
  const { alg, 'x5t#S256': thumbprint } = jsonOf(header);
  const { iss, sub, nbf, exp } = jsonOf(claims);
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const isSigned =
    alg === 'PS256' &&
    thumbprint === Buffer.from(known.fingerprint256.replaceAll(':', ''), 'hex').toString('base64url') &&
    verify(
      'sha256',
      Buffer.from(`${header}.${claims}`),
      { key: known.publicKey, ...padding },
      Buffer.from(signature, 'base64url'),
    );
  if (!isSigned || iss !== 'client' || sub !== 'client')
    return entraRefusal(700_027, 'The certificate with identifier used to sign the client assertion is …');
  const seconds = Date.now() / 1_000;
  const isNow = Number(nbf) - SKEW_MS / 1_000 <= seconds && seconds < Number(exp);
  return isNow
    ? tokens.issue()
    : entraRefusal(700_024, 'Client assertion is not within its valid time range.');
}

function entraRefusal(code: number, reason: string): Play {
  const body = {
    error: 'invalid_client',
    error_description: `AADSTS${code}: ${reason}`,
    error_codes: [code],
  };
  return { status: 401, chunks: [JSON.stringify(body)] };
}

function jsonOf(part: string): Record<string, unknown> {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
