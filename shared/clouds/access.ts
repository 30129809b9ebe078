/**
 * How an upstream is reached: authentication, shape of its requests, extra headers and query, proxy. Both
 * planes read it: the control plane validates it, nodes apply it.
 */

/**
 * API_KEY: the secret in the header of the request's format. BEARER: as a bearer token. AZURE_API_KEY: in the
 * header `api-key`. AZURE_ENTRA: a token for a client id with its secret or certificate. AWS_KEYS: signed.
 * AWS_WEB_IDENTITY: signed with keys for the identity token of the node. GOOGLE_SERVICE_ACCOUNT: a token for
 * the key file of a service account. GOOGLE_WORKLOAD_IDENTITY: a token for the identity token of the node.
 */
export const AUTH_KINDS = [
  'API_KEY',
  'BEARER',
  'AZURE_API_KEY',
  'AZURE_ENTRA',
  'AWS_KEYS',
  'AWS_WEB_IDENTITY',
  'GOOGLE_SERVICE_ACCOUNT',
  'GOOGLE_WORKLOAD_IDENTITY',
] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

/**
 * STANDARD: paths and bodies of the format. BEDROCK: messages in `InvokeModel`, or Converse. VERTEX: generate
 * and messages under `publishers/google` and `publishers/anthropic`.
 */
export const REQUEST_STYLES = ['STANDARD', 'BEDROCK', 'VERTEX'] as const;
export type RequestStyle = (typeof REQUEST_STYLES)[number];

/** A header or query parameter that every request gets. */
export interface ExtraPair {
  name: string;
  value: string;
}

/** Parameters that only some kinds of authentication use; null for none. */
export interface AuthParameters {
  /** Directory of the application. AZURE_ENTRA. */
  tenantId: string | null;
  /** Id of the application. AZURE_ENTRA. */
  clientId: string | null;
  /** Scope of the token. AZURE_ENTRA; null for AI services. */
  scope: string | null;
  /** Region in signatures. AWS_KEYS, AWS_WEB_IDENTITY. */
  region: string | null;
  /** Service in signatures. AWS_KEYS, AWS_WEB_IDENTITY; null for `bedrock`. */
  service: string | null;
  /** Role that the node takes. AWS_WEB_IDENTITY. */
  roleArn: string | null;
  /** Full name of the identity provider. GOOGLE_WORKLOAD_IDENTITY. */
  audience: string | null;
  /** Address of the service account that the node acts as. GOOGLE_WORKLOAD_IDENTITY; null for none. */
  serviceAccount: string | null;
  /** Where tokens are fetched; null for the cloud's public address. */
  tokenUrl: string | null;
}

/** How an upstream is reached. */
export interface UpstreamAccess extends AuthParameters {
  auth: AuthKind;
  style: RequestStyle;
  /** Path below the base address, with `{path}` for the format's path and `{model}`; null for `{path}`. */
  pathTemplate: string | null;
  headers: readonly ExtraPair[];
  query: readonly ExtraPair[];
  /** Address of an HTTP proxy; null for none. */
  proxyUrl: string | null;
}

/** Access with an API key in the format's header, as most providers want it. */
export const DEFAULT_ACCESS: UpstreamAccess = {
  auth: 'API_KEY',
  tenantId: null,
  clientId: null,
  scope: null,
  region: null,
  service: null,
  roleArn: null,
  audience: null,
  serviceAccount: null,
  tokenUrl: null,
  style: 'STANDARD',
  pathTemplate: null,
  headers: [],
  query: [],
  proxyUrl: null,
};

type ParameterName = keyof AuthParameters;

/**
 * The parameters that a kind needs, and those that it may have. The kinds with the identity of the node have
 * no token endpoint of choice: an administrator could have the identity sent to another host.
 */
export const AUTH_PARAMETERS: Record<
  AuthKind,
  { required: readonly ParameterName[]; optional: readonly ParameterName[] }
> = {
  API_KEY: { required: [], optional: [] },
  BEARER: { required: [], optional: [] },
  AZURE_API_KEY: { required: [], optional: [] },
  AZURE_ENTRA: { required: ['tenantId', 'clientId'], optional: ['scope', 'tokenUrl'] },
  AWS_KEYS: { required: ['region'], optional: ['service'] },
  AWS_WEB_IDENTITY: { required: ['region', 'roleArn'], optional: ['service'] },
  GOOGLE_SERVICE_ACCOUNT: { required: [], optional: ['tokenUrl'] },
  GOOGLE_WORKLOAD_IDENTITY: { required: ['audience'], optional: ['serviceAccount'] },
};

/** Kinds that need no credential, because the node has an identity of its own. */
export const NODE_IDENTITY_KINDS: readonly AuthKind[] = ['AWS_WEB_IDENTITY', 'GOOGLE_WORKLOAD_IDENTITY'];
/** Kinds whose secret is sent as it is in a header. */
const PLAIN_KINDS: readonly AuthKind[] = ['API_KEY', 'BEARER', 'AZURE_API_KEY'];

/** The binding of a client certificate, which is never sent as a secret. */
export const CLIENT_CERTIFICATE = 'CLIENT_CERTIFICATE';

/**
 * The binding of a credential besides the origin of the upstream: how its secret is used, and the origin
 * that receives it for a token. Null for secrets that are sent in a header.
 */
export function bindingOf(access: UpstreamAccess | null): string | null {
  if (!access || PLAIN_KINDS.includes(access.auth)) return null;
  const tokenUrl = tokenUrlOf(access);
  return tokenUrl === null ? access.auth : `${access.auth} ${new URL(tokenUrl).origin}`;
}

/** Where tokens of this access are fetched; null for kinds without tokens. */
export function tokenUrlOf({ auth, tokenUrl, tenantId, region }: UpstreamAccess): string | null {
  switch (auth) {
    case 'AZURE_ENTRA':
      // https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow
      return (
        tokenUrl ??
        `https://login.microsoftonline.com/${encodeURIComponent(tenantId ?? '')}/oauth2/v2.0/token`
      );
    case 'AWS_WEB_IDENTITY':
      // https://docs.aws.amazon.com/general/latest/gr/sts.html
      return tokenUrl ?? `https://sts.${region}.amazonaws.com${region?.startsWith('cn-') ? '.cn' : ''}/`;
    case 'GOOGLE_SERVICE_ACCOUNT':
      return tokenUrl ?? 'https://oauth2.googleapis.com/token';
    case 'GOOGLE_WORKLOAD_IDENTITY':
      return tokenUrl ?? 'https://sts.googleapis.com/v1/token';
    default:
      return null;
  }
}
