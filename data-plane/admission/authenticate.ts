/** Finds the API key of a request, and checks the key's state, host, IP address and account. */
import { GatewayError } from '@gateway/shared/failures';
import { PLAYGROUND_PASS_HEADER, readPlaygroundPass } from '@gateway/shared/playground-pass';
import type { KeyRecord, PoolRecord, SettingsRecord, UsageSource } from '@gateway/shared/records';
import { digestOf, isWellFormedKey } from '@gateway/shared/secrets';
import { isListed } from './addresses.ts';
import type { Call } from '../call/call.ts';

/**
 * Where an endpoint accepts a key. Every endpoint accepts `Authorization: Bearer`; the other values than
 * `bearer` add the headers of a format.
 */
export type Credentials = 'bearer' | 'messages' | 'generative' | 'models' | 'realtime';

/** The sender of a request with a valid key. */
export interface Caller {
  key: KeyRecord;
  /** Digest of the secret that came with the request. */
  digest: string;
  /** The pool whose host received the request; undefined on the main domain. */
  pool: PoolRecord | undefined;
  source: UsageSource;
  /**
   * Whether the request has the key's previous secret, which works until the rotation's grace period ends.
   */
  usedPreviousSecret: boolean;
  /** IP address for the usage log. */
  address: string | null;
  /** The only upstreams that may get the request; undefined for all. */
  providerIds: readonly string[] | undefined;
}

/** Headers with the key of a generative-language client. Google's SDKs send the second one. */
const GENERATIVE_HEADERS = ['x-gen-api-key', 'x-goog-api-key'] as const;
const REALTIME_PROTOCOL = 'openai-insecure-api-key.';

const UNKNOWN_KEY = 'The API key is not valid. Copy it again, or create a new one in the console.';

/**
 * Finds the key by its digest and checks host, state and IP address. Throws `unknown_pool` if the host names
 * no pool, `invalid_key` if no key has the digest, and `wrong_host`, `key_disabled`, `key_expired`,
 * `pool_expired`, `ip_not_allowed` or `wallet_frozen` if the key may not be used.
 */
export function authenticate(call: Call, credentials: Credentials): Caller {
  const host = poolOfHost(call);
  const { key, digest } = findKey(call, credentials);
  const usedPreviousSecret = digest !== key.digest;
  if (!key.enabled && key.disabledReason !== 'POOL_EXPIRED')
    throw refused('key_disabled', 'This API key is disabled. Enable it in the console or use another.');
  if (key.expiresAt !== null && key.expiresAt <= call.at) {
    throw refused('key_expired', 'This API key has expired. Create a new one in the console.');
  }
  const pool = checkHost(call, key, host);
  const pass = key.hidden ? playgroundPass(call, key) : undefined;
  checkAddress(call, key);
  checkAccount(call, key);
  const caller = { key, digest, pool, usedPreviousSecret };
  if (pass) return { ...caller, source: pass.source, address: pass.ip, providerIds: pass.providerIds };
  const source = pool ? 'POOL_KEY' : 'API_KEY';
  return { ...caller, source, address: call.address, providerIds: undefined };
}

/** Whether the request has a key in a header of generative-language clients or in the query. */
export function hasGenerativeKey({ headers, query }: Pick<Call, 'headers' | 'query'>): boolean {
  return GENERATIVE_HEADERS.some((name) => headers[name] !== undefined) || query.has('key');
}

function findKey(call: Call, credentials: Credentials): Pick<Caller, 'key' | 'digest'> {
  const secret = secretOf(call, credentials);
  if (secret === undefined) throw invalidKey(missingKeyMessage(credentials));
  const digest = isWellFormedKey(secret) ? digestOf(secret) : undefined;
  const key = digest === undefined ? undefined : call.config.keyByDigest(digest);
  if (digest === undefined || !key) throw invalidKey(UNKNOWN_KEY);
  if (digest !== key.digest && (key.previousUntil ?? 0) <= call.at) {
    throw invalidKey('The secret of this API key was replaced. Use the new secret.');
  }
  return { key, digest };
}

/**
 * The key's secret. The format's own header has priority over `Authorization`, which a proxy may have set.
 */
function secretOf({ headers, query }: Call, credentials: Credentials): string | undefined {
  if (credentials === 'generative' || credentials === 'models') {
    const given = GENERATIVE_HEADERS.map((name) => headers[name]).find((value) => typeof value === 'string');
    const secret = given ?? query.get('key') ?? undefined;
    if (typeof secret === 'string') return secret;
  }
  if (credentials === 'messages' || credentials === 'models') {
    const secret = headers['x-api-key'];
    if (typeof secret === 'string') return secret;
  }
  if (credentials === 'realtime') {
    const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
    const secret = protocols.find((protocol) => protocol.startsWith(REALTIME_PROTOCOL));
    if (secret) return secret.slice(REALTIME_PROTOCOL.length);
  }
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

const OTHER_PLACES: Record<Credentials, string> = {
  bearer: '',
  messages: ' or x-api-key: <key>',
  generative: ', x-gen-api-key: <key> or ?key=<key>',
  models: ', x-api-key: <key>, x-gen-api-key: <key> or ?key=<key>',
  realtime: ` or as the WebSocket subprotocol ${REALTIME_PROTOCOL}<key>`,
};

function missingKeyMessage(credentials: Credentials): string {
  return `No API key was sent. Send it as Authorization: Bearer <key>${OTHER_PLACES[credentials]}.`;
}

/** The pool of the Host header. Throws `unknown_pool` for a subdomain of the base domain without a pool. */
function poolOfHost({ headers, config }: Call): PoolRecord | undefined {
  const label = poolLabel(headers.host ?? '', baseDomain(config.settings));
  if (label === undefined) return undefined;
  const pool = config.poolBySubdomain(label);
  if (!pool)
    throw new GatewayError(
      'unknown_pool',
      `There is no pool "${label}". Use the base address ${config.settings.publicUrl}.`,
    );
  return pool;
}

/** The label `x` of the host `x.<base>`; undefined for every other host. */
export function poolLabel(host: string, base: string): string | undefined {
  const lower = host.toLowerCase();
  // Most hosts are the base domain itself.
  if (!lower.includes(`.${base}`)) return undefined;
  const name = lower.replace(/:\d*$/, '').replace(/\.$/, '');
  if (!name.endsWith(`.${base}`)) return undefined;
  const label = name.slice(0, -base.length - 1);
  return label.includes('.') || !/^[a-z0-9-]+$/.test(label) ? undefined : label;
}

/**
 * Checks that the request was sent to the key's host. Returns the key's pool, undefined for a key without
 * one. Throws `wrong_host` or `pool_expired`.
 */
function checkHost(call: Call, key: KeyRecord, host: PoolRecord | undefined): PoolRecord | undefined {
  const { settings } = call.config;
  if (key.poolId === null) {
    if (!host) return undefined;
    throw refused(
      'wrong_host',
      `This key does not belong to this pool. Use the base address ${settings.publicUrl}.`,
    );
  }
  const pool = call.config.poolById(key.poolId);
  if (!pool) throw poolExpired(settings, 'The pool of this key');
  if (host?.id !== pool.id) {
    const address = poolAddress(settings, pool);
    throw refused(
      'wrong_host',
      `This key works only on the address of its pool. Use the base address ${address}.`,
    );
  }
  if (pool.paidUntil <= call.at || !key.enabled)
    throw poolExpired(settings, `The period of pool ${pool.name} (${pool.subdomain})`);
  return pool;
}

/** The signed pass that the control plane adds to Playground requests. Clients never get Playground keys. */
function playgroundPass({ headers, config, at }: Call, key: KeyRecord) {
  const value = headers[PLAYGROUND_PASS_HEADER];
  const { playgroundKey } = config.settings;
  const pass =
    typeof value === 'string' && playgroundKey !== null
      ? readPlaygroundPass(playgroundKey, value, at)
      : undefined;
  // The same message as for an unknown key: a client must not learn that a Playground key exists.
  if (pass?.keyId !== key.id) throw invalidKey(UNKNOWN_KEY);
  return pass;
}

function checkAddress(call: Call, key: KeyRecord): void {
  if (key.allowedIps.length === 0 || isListed(call.address, key.allowedIps)) return;
  throw refused(
    'ip_not_allowed',
    'This API key may not be used from this IP address. Change its list of addresses in the console.',
  );
}

function checkAccount({ config }: Call, key: KeyRecord): void {
  const account = config.accountByWallet(key.walletId);
  if (account?.suspended)
    throw refused('key_disabled', 'The account of this API key is suspended. Contact support.');
  if (account?.frozen)
    throw refused('wallet_frozen', 'The wallet of this API key is frozen. Contact support.');
}

const domains = new WeakMap<SettingsRecord, string>();

/** The host of `publicUrl`. Each direct subdomain of it is the address of a pool. */
function baseDomain(settings: SettingsRecord): string {
  const known = domains.get(settings);
  if (known !== undefined) return known;
  const domain = new URL(settings.publicUrl).hostname;
  domains.set(settings, domain);
  return domain;
}

/** The base address of a pool. */
function poolAddress(settings: SettingsRecord, pool: PoolRecord): string {
  const url = new URL(settings.publicUrl);
  url.hostname = `${pool.subdomain}.${url.hostname}`;
  return url.origin;
}

function poolExpired({ consoleUrl }: SettingsRecord, what: string): GatewayError {
  return refused('pool_expired', `${what} has ended. Renew it at ${consoleUrl}/pools.`);
}

function refused(
  code: 'key_disabled' | 'key_expired' | 'pool_expired' | 'wrong_host' | 'ip_not_allowed' | 'wallet_frozen',
  message: string,
): GatewayError {
  return new GatewayError(code, message);
}

function invalidKey(message: string): GatewayError {
  return new GatewayError('invalid_key', message);
}
