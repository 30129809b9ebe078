/** Finds the API key of a request, and refuses the key if it may not be used here and now. */
import { GatewayError } from '@gateway/shared/failures';
import { PLAYGROUND_PASS_HEADER, readPlaygroundPass } from '@gateway/shared/playground-pass';
import type { KeyRecord, PoolRecord, SettingsRecord, UsageSource } from '@gateway/shared/records';
import { digestOf, isWellFormedKey } from '@gateway/shared/secrets';
import { isListed } from './addresses.ts';
import type { Call } from '../call/call.ts';

/** Where an endpoint takes a key from besides `Authorization: Bearer`, which every endpoint accepts. */
export type Credentials = 'bearer' | 'messages' | 'generative' | 'models' | 'realtime';

/** The sender of a request with a valid key. */
export interface Caller {
  key: KeyRecord;
  /** Digest of the secret that came with the request. */
  digest: string;
  /** The pool whose host received the request; undefined on the main domain. */
  pool: PoolRecord | undefined;
  source: UsageSource;
  /** Whether the request came with the secret from before the last rotation, within its grace period. */
  usedPreviousSecret: boolean;
  /** IP address for the usage log. */
  address: string | null;
  /** The only upstreams that may get the request; undefined for all. */
  providerIds: readonly string[] | undefined;
}

/** The vendor-neutral header name, and the one that Google's SDKs send. */
const GENERATIVE_HEADERS = ['x-gen-api-key', 'x-goog-api-key'] as const;
const REALTIME_PROTOCOL = 'openai-insecure-api-key.';

/**
 * Finds the key by its digest and checks host, state and IP address. Throws `unknown_pool` or `invalid_key`;
 * for a valid key also `wrong_host`, `key_disabled`, `key_expired`, `pool_expired`, `ip_not_allowed` or
 * `wallet_frozen`.
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

/** Whether the request carries its key as generative-language clients do, in a header or in the query. */
export function hasGenerativeKey({ headers, query }: Pick<Call, 'headers' | 'query'>): boolean {
  return GENERATIVE_HEADERS.some((name) => headers[name] !== undefined) || query.has('key');
}

function findKey(call: Call, credentials: Credentials): Pick<Caller, 'key' | 'digest'> {
  const secret = secretOf(call, credentials);
  if (secret === undefined) throw invalidKey(missingKeyMessage(credentials));
  const digest = isWellFormedKey(secret) ? digestOf(secret) : undefined;
  const key = digest === undefined ? undefined : call.config.keyByDigest(digest);
  if (digest === undefined || !key)
    throw invalidKey('The API key is not valid. Copy it again, or create a new one in the console.');
  if (digest !== key.digest && (key.previousUntil ?? 0) <= call.at) {
    throw invalidKey('This API key was rotated. Use the new one.');
  }
  return { key, digest };
}

/**
 * The key's secret. The family's own header comes first, because an additional Bearer may belong to a proxy.
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

/** The pool that the Host header names. Throws `unknown_pool` for a direct subdomain without a pool. */
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

/** The first label of a direct subdomain of the base domain; undefined for every other host. */
export function poolLabel(host: string, base: string): string | undefined {
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  if (!name.endsWith(`.${base}`)) return undefined;
  const label = name.slice(0, -base.length - 1);
  return label.includes('.') || !/^[a-z0-9-]+$/.test(label) ? undefined : label;
}

/** The pool of the key; undefined for a key of the main domain. Throws `wrong_host` or `pool_expired`. */
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

/** The pass that the control plane adds to Playground requests. No client has the keys of those requests. */
function playgroundPass({ headers, config, at }: Call, key: KeyRecord) {
  const value = headers[PLAYGROUND_PASS_HEADER];
  const { playgroundKey } = config.settings;
  const pass =
    typeof value === 'string' && playgroundKey !== null
      ? readPlaygroundPass(playgroundKey, value, at)
      : undefined;
  // Same message as for an unknown key, so that clients cannot find out that such keys exist.
  if (pass?.keyId !== key.id) throw invalidKey('The API key is not valid. Create one in the console.');
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

/** The host of the base address. Its direct subdomains are pools. */
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
