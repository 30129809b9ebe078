/** Validates how an upstream is reached, and the secrets of its credentials, before they are stored. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { ProtocolName } from '@gateway/shared/catalog';
import {
  AUTH_PARAMETERS,
  CLIENT_CERTIFICATE,
  DEFAULT_ACCESS,
  NODE_IDENTITY_KINDS,
  bindingOf,
  tokenUrlOf,
} from '@gateway/shared/clouds/access';
import type {
  AuthKind,
  AuthParameters,
  ExtraPair,
  RequestStyle,
  UpstreamAccess,
} from '@gateway/shared/clouds/access';
import {
  isPrivateKey,
  readAwsKeys,
  readServiceAccountKey,
  splitPem,
  writeServiceAccountKey,
} from '@gateway/shared/clouds/secrets';
import type { ClientCertificate } from '@gateway/shared/clouds/secrets';
import { UserFailure } from '../graphql/errors.ts';
import { checkReachable } from './address-guard.ts';

/** Maximum number of extra headers, and of extra query parameters. */
const PAIRS_MAX = 20;
const VALUE_LENGTH_MAX = 1_000;
const TEMPLATE_LENGTH_MAX = 300;
/** Maximum length of a plain secret, and of a certificate with its key, in characters. */
const SECRET_LENGTH_MAX = 4_096;
const CERTIFICATE_LENGTH_MAX = 12_000;
const SUFFIX_LENGTH = 4;
/** Of a shorter secret no character is shown, because the last four would reveal too much of it. */
const SHOWN_LENGTH_MIN = 12;

/**
 * Headers that no one may set: those that carry credentials, that a connection or the gateway decides
 * (https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1), and that would change the body or its framing.
 */
const DENIED_HEADERS = new Set([
  ...['authorization', 'proxy-authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'cookie'],
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['host', 'expect', 'content-length', 'content-type', 'content-encoding', 'accept', 'accept-encoding'],
]);
const DENIED_PREFIXES = ['x-amz-', 'sec-', 'proxy-'];
/** Query parameters that carry credentials, or that the format sets. */
const DENIED_PARAMETERS = new Set(['key', 'access_token', 'alt', 'model', 'intent']);

/** The input of the API. Every part may be missing. */
export type AccessInput = { [Name in keyof UpstreamAccess]?: UpstreamAccess[Name] | null };

/** The provider for which the access must be valid. */
interface Surroundings {
  protocols: readonly ProtocolName[];
  baseUrl: string;
}

/** The only hosts that get tokens for the identity of a node, which no administrator has entered. */
const VERTEX_HOST = /^([a-z0-9-]+-)?aiplatform(\.[a-z]+\.rep)?\.googleapis\.com$/;

/** The access in its stored form: null if nothing is special. Throws INVALID with the name of the field. */
export async function checkedAccess(
  input: AccessInput | null | undefined,
  { allowPrivate, ...surroundings }: Surroundings & { allowPrivate: boolean },
): Promise<UpstreamAccess | null> {
  const access = filled(input ?? {});
  checkParameters(access);
  checkFits(access, surroundings);
  checkTemplate(access.pathTemplate);
  checkPairs(access.headers, { field: 'headers', shape: /^[\w-]{1,100}$/, isDenied: isDeniedHeader });
  checkPairs(access.query, {
    field: 'query',
    shape: /^[\w.-]{1,100}$/,
    isDenied: (name) => DENIED_PARAMETERS.has(name.toLowerCase()),
  });
  const tokenUrl = tokenUrlOf(access);
  if (access.tokenUrl !== null && tokenUrl !== null) await checkReachable(tokenUrl, allowPrivate, 'tokenUrl');
  if (access.proxyUrl !== null) await checkProxy(access.proxyUrl, allowPrivate);
  return JSON.stringify(access) === JSON.stringify(DEFAULT_ACCESS) ? null : access;
}

/** Throws INVALID if this access does not fit the formats or the address of the upstream. */
export function checkFits(access: UpstreamAccess, { protocols, baseUrl }: Surroundings): void {
  checkStyle(access, protocols);
  const { protocol, hostname } = new URL(baseUrl);
  if (access.auth !== 'GOOGLE_WORKLOAD_IDENTITY') return;
  if (protocol === 'https:' && VERTEX_HOST.test(hostname)) return;
  throw invalid(`With ${access.auth}, use an address of Vertex AI under googleapis.com.`, 'baseUrl');
}

function filled(input: AccessInput): UpstreamAccess {
  const given = Object.entries(input).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  const known = given.filter(([name]) => Object.hasOwn(DEFAULT_ACCESS, name));
  const access: UpstreamAccess = { ...DEFAULT_ACCESS, ...Object.fromEntries(known) };
  const copy = ({ name, value }: ExtraPair): ExtraPair => ({ name: name.trim(), value: value.trim() });
  return { ...access, headers: access.headers.map(copy), query: access.query.map(copy) };
}

const PARAMETER_SHAPES: Record<keyof AuthParameters, RegExp> = {
  tenantId: /^[\w.-]{1,200}$/,
  clientId: /^[\w-]{1,200}$/,
  scope: /^[\x21-\x7e]{1,300}$/,
  region: /^[a-z]{2}(-[a-z]+)+-\d$/,
  service: /^[a-z][a-z0-9-]{1,60}$/,
  roleArn: /^arn:[a-z-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
  audience: /^\/\/iam\.googleapis\.com\/[\w./-]{1,300}$/,
  serviceAccount: /^[\w.-]+@[\w.-]{1,200}$/,
  tokenUrl: /^https?:\/\/[\x21-\x7e]{1,500}$/,
};

function checkParameters(access: UpstreamAccess): void {
  const { required, optional } = AUTH_PARAMETERS[access.auth];
  for (const [name, shape] of Object.entries(PARAMETER_SHAPES) as [keyof AuthParameters, RegExp][]) {
    const value = access[name];
    if (value === null) {
      if (required.includes(name)) throw invalid(`Enter ${name}: ${access.auth} needs it.`, name);
    } else if (!required.includes(name) && !optional.includes(name)) {
      throw invalid(`Leave ${name} empty: ${access.auth} does not use it.`, name);
    } else if (!shape.test(value)) {
      throw invalid(`The value of ${name} has the wrong form. Copy it from the console of the cloud.`, name);
    }
  }
}

/** The formats in which the styles of clouds differ from the standard. */
const STYLE_PROTOCOLS: Record<RequestStyle, readonly ProtocolName[]> = {
  STANDARD: [],
  BEDROCK: ['anthropic-messages', 'bedrock-converse'],
  VERTEX: ['anthropic-messages', 'google-generate'],
};

function checkStyle({ style, pathTemplate }: UpstreamAccess, protocols: readonly ProtocolName[]): void {
  if (style !== 'BEDROCK' && protocols.includes('bedrock-converse'))
    throw invalid('Choose the style BEDROCK for bedrock-converse.', 'style');
  if (style === 'STANDARD') return;
  const allowed = STYLE_PROTOCOLS[style];
  if (protocols.some((protocol) => !allowed.includes(protocol)))
    throw invalid(`With the style ${style}, choose only ${allowed.join(' and ')}.`, 'protocols');
  // A model that takes both would get messages, which most models do not understand.
  if (style === 'BEDROCK' && protocols.length > 1)
    throw invalid('Add one upstream for messages and another one for bedrock-converse.', 'protocols');
  if (pathTemplate !== null)
    throw invalid(`Leave the path empty: the style ${style} has its own.`, 'pathTemplate');
}

function checkTemplate(template: string | null): void {
  if (template === null) return;
  const rest = template.replace('{path}', '').replace('{model}', '');
  const isGood = template.startsWith('/') || template.startsWith('{path}');
  const hasPath = template.includes('{path}') && template.length <= TEMPLATE_LENGTH_MAX;
  if (isGood && hasPath && /^[\w./:@~-]*$/.test(rest) && !rest.includes('..')) return;
  throw invalid(
    'Write the path like /deployments/{model}{path}: with {path}, without a query.',
    'pathTemplate',
  );
}

interface PairRules {
  field: string;
  shape: RegExp;
  isDenied: (name: string) => boolean;
}

function checkPairs(pairs: readonly ExtraPair[], { field, shape, isDenied }: PairRules): void {
  if (pairs.length > PAIRS_MAX) throw invalid(`Enter at most ${PAIRS_MAX}.`, field);
  const names = new Set(pairs.map(({ name }) => name.toLowerCase()));
  if (names.size !== pairs.length) throw invalid('Enter each name once.', field);
  for (const { name, value } of pairs) {
    if (!shape.test(name))
      throw invalid(`"${name.slice(0, 50)}" is not a name. Use letters, digits, - and _.`, field);
    if (isDenied(name)) throw invalid(`"${name}" cannot be set: the gateway decides about it.`, field);
    if (!/^[\x20-\x7e]+$/.test(value) || value.length > VALUE_LENGTH_MAX)
      throw invalid(`Give "${name}" a value of 1 to ${VALUE_LENGTH_MAX} ASCII characters.`, field);
  }
}

function isDeniedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return DENIED_HEADERS.has(lower) || DENIED_PREFIXES.some((prefix) => lower.startsWith(prefix));
}

async function checkProxy(text: string, allowPrivate: boolean): Promise<void> {
  const { username, password, search, hash, pathname } = new URL(text);
  if (username || password || search || hash || pathname !== '/')
    throw invalid('Enter the proxy as http://host:port, without a user or a path.', 'proxyUrl');
  // A proxy is reached by plain http, too: it only passes the encrypted bytes on.
  await checkReachable(text.replace(/^http:/, 'https:'), allowPrivate, 'proxyUrl');
}

/** A secret in its stored form, the characters of it that may be shown, and its use. */
interface StoredSecret {
  secret: string;
  suffix: string;
  binding: string | null;
}

/** The stored form of a secret for this access. Throws INVALID if it has the wrong form. */
export function storedSecret(access: UpstreamAccess | null, text: string): StoredSecret {
  const auth: AuthKind = access?.auth ?? 'API_KEY';
  const binding = bindingOf(access);
  if (NODE_IDENTITY_KINDS.includes(auth)) {
    throw invalid(`${auth} needs no credential: nodes have an identity of their own.`, 'secret');
  }
  if (auth === 'AWS_KEYS') {
    const keys = readAwsKeys(text);
    if (!keys)
      throw invalid('Enter JSON with accessKeyId and secretAccessKey, and sessionToken if any.', 'secret');
    return { secret: JSON.stringify(keys), suffix: keys.accessKeyId.slice(-SUFFIX_LENGTH), binding };
  }
  if (auth === 'GOOGLE_SERVICE_ACCOUNT') {
    const key = readServiceAccountKey(text);
    if (!key) throw invalid('Paste the whole JSON key file of the service account.', 'secret');
    return { secret: writeServiceAccountKey(key), suffix: key.privateKeyId.slice(-SUFFIX_LENGTH), binding };
  }
  if (auth === 'AZURE_ENTRA' && text.includes('-----BEGIN ')) {
    const pem = splitPem(text);
    if (!pem || !isPrivateKey(pem.privateKey, ['rsa']))
      throw invalid(
        'Paste the certificate and its private key in PEM, an RSA key without a password.',
        'secret',
      );
    return { ...storedPair(pem, ['rsa']), binding };
  }
  if (text === '' || text.length > SECRET_LENGTH_MAX || /[^\x21-\x7e]/.test(text)) {
    throw invalid(`Enter a secret of 1 to ${SECRET_LENGTH_MAX} printable ASCII characters.`, 'secret');
  }
  const suffix = text.length < SHOWN_LENGTH_MIN ? '' : text.slice(-SUFFIX_LENGTH);
  return { secret: text, suffix, binding };
}

/** The stored form of a client certificate with its private key, both in PEM. Throws INVALID. */
export function storedCertificate(certificate: string, privateKey: string): StoredSecret {
  const pair = { certificate, privateKey };
  return { ...storedPair(pair, ['rsa', 'ec', 'ed25519']), binding: CLIENT_CERTIFICATE };
}

/** A certificate with its private key of one of these types. Throws INVALID. */
function storedPair(
  { certificate, privateKey }: ClientCertificate,
  types: readonly string[],
): Omit<StoredSecret, 'binding'> {
  const fits = certificate.length + privateKey.length <= CERTIFICATE_LENGTH_MAX;
  const parsed = fits ? parsedCertificate(certificate) : undefined;
  if (!parsed) throw invalid('Paste the certificate in PEM, with its chain if any.', 'certificate');
  if (!isPrivateKey(privateKey, types) || !parsed.checkPrivateKey(createPrivateKey(privateKey)))
    throw invalid('Paste the private key of the certificate in PEM, without a password.', 'secret');
  return {
    secret: JSON.stringify({ certificate, privateKey }),
    suffix: parsed.serialNumber.slice(-SUFFIX_LENGTH),
  };
}

function parsedCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function invalid(message: string, field: string): UserFailure {
  return new UserFailure('INVALID', message, field);
}
