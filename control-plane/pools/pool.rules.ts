/** Pure rules of pools: valid names and subdomains, the present state, renewal, and the address. */
import { UserFailure } from '../graphql/errors.ts';
import type { PoolRow, PoolState } from './pool.entity.ts';
import { DAY_MS } from './quote.rules.ts';

/** A pool is EXPIRING from this long before its end, in ms. */
export const EXPIRING_MS = 7 * DAY_MS;
/** How long after its end a pool keeps its subdomain and can be renewed, in ms. */
export const KEPT_MS = 14 * DAY_MS;
/** How long before its end a pool is renewed automatically, in ms. */
export const AUTO_RENEW_MS = DAY_MS;

const NAME_LENGTH_MAX = 80;
const SUBDOMAIN_MIN = 3;
const SUBDOMAIN_MAX = 32;
const SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Names with a meaning for people, browsers or mail servers, or that the gateway may need. */
const RESERVED: ReadonlySet<string> = new Set(
  `about abuse account accounts acme admin administrator api apis app apps assets auth autoconfig
  autodiscover base billing blog board cdn chat cname config console contact control control-plane
  cpanel data data-plane dashboard db demo dev developer developers dns doc docs download downloads edge
  email events explorer favicon file files forum ftp gateway graphql health help home host hostmaster
  hosting http https imap info internal intranet ipv4 ipv6 keys legal livez local localhost localdomain
  log login logout logs mail mailer metrics mobile model models monitor mta mx mysql network news node
  nodes noreply ns ns1 ns2 ns3 ns4 oauth oidc openid origin panel payment payments playground policy pool
  pools pop pop3 portal postgres postmaster pricing privacy private prod production proxy public readyz
  register relay root sandbox secure security server service services settings shop sign-in sign-up signin
  signup sip site smtp sql ssh ssl sso staff stage staging static stats status storage store storefront
  stripe sub support svc sys sysadmin system team telemetry terms test testing time tls tools update
  upload uploads usage user users v1 v1beta vpn wallet web webdisk webhook webhooks webmail webmaster
  well-known wiki wpad www www1 www2 www3`.split(/\s+/),
);

/** Returns the name without surrounding spaces. Throws INVALID if it is empty or too long. */
export function checkPoolName(name: string): string {
  const trimmed = name.trim();
  if (trimmed && trimmed.length <= NAME_LENGTH_MAX) return trimmed;
  throw new UserFailure('INVALID', `Give the pool a name of at most ${NAME_LENGTH_MAX} characters.`, 'name');
}

/**
 * Returns the subdomain in lower case. Throws INVALID if it is no valid host name label, SUBDOMAIN_RESERVED.
 */
export function checkSubdomain(text: string): string {
  const subdomain = text.trim().toLowerCase();
  const fits = subdomain.length >= SUBDOMAIN_MIN && subdomain.length <= SUBDOMAIN_MAX;
  if (!fits || !SUBDOMAIN.test(subdomain) || subdomain.slice(2, 4) === '--') {
    throw new UserFailure(
      'INVALID',
      `Choose ${SUBDOMAIN_MIN} to ${SUBDOMAIN_MAX} characters of a–z, 0–9, and hyphens inside.`,
      'subdomain',
    );
  }
  if (isReserved(subdomain)) {
    throw new UserFailure('SUBDOMAIN_RESERVED', 'This subdomain is reserved. Choose another.', 'subdomain');
  }
  return subdomain;
}

/** Throws STALE_VERSION if the pool has changed since `version` was read. */
export function checkVersion(pool: Pick<PoolRow, 'version'>, version: number): void {
  if (pool.version === version) return;
  throw new UserFailure(
    'STALE_VERSION',
    'The pool has changed meanwhile. Read it again, then repeat the change.',
    'version',
  );
}

/** The state of the pool at `now`; the stored state may lag behind. */
export function stateOf(pool: Pick<PoolRow, 'state' | 'endsAt'>, now: Date): PoolState {
  if (pool.state === 'CANCELLED') return 'CANCELLED';
  const left = pool.endsAt.getTime() - now.getTime();
  if (left <= 0) return 'EXPIRED';
  return left <= EXPIRING_MS ? 'EXPIRING' : 'ACTIVE';
}

/** Whether the pool serves requests: it is neither past its end nor cancelled. */
export function isRunning(pool: Pick<PoolRow, 'state' | 'endsAt'>, now: Date): boolean {
  return pool.state !== 'CANCELLED' && pool.endsAt > now;
}

/** End of the time in which only the owner may take the subdomain. */
export function keptUntil(pool: Pick<PoolRow, 'endsAt'>): Date {
  return new Date(pool.endsAt.getTime() + KEPT_MS);
}

/** Whether another period can be bought. */
export function isRenewable(pool: Pick<PoolRow, 'state' | 'endsAt' | 'holdsSubdomain'>, now: Date): boolean {
  return pool.state !== 'CANCELLED' && pool.holdsSubdomain && keptUntil(pool) > now;
}

/** Whether the pool is due for automatic renewal. */
export function isAutoRenewalDue(pool: Pick<PoolRow, 'state' | 'endsAt' | 'autoRenew'>, now: Date): boolean {
  const left = pool.endsAt.getTime() - now.getTime();
  return pool.autoRenew && isRunning(pool, now) && left <= AUTO_RENEW_MS;
}

/** The base address of a pool: its subdomain before the host of `publicUrl`. */
export function poolAddress(publicUrl: string, subdomain: string): string {
  const url = new URL(publicUrl);
  url.hostname = `${subdomain}.${url.hostname}`;
  return url.href.replace(/\/$/, '');
}

/** Whether the subdomain is reserved, also when hyphens or digits that look like letters disguise it. */
function isReserved(subdomain: string): boolean {
  const plain = subdomain.replaceAll('-', '');
  const read = plain.replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('5', 's').replaceAll('3', 'e');
  const other = plain.replaceAll('0', 'o').replaceAll('1', 'i').replaceAll('5', 's').replaceAll('3', 'e');
  return [subdomain, plain, read, other].some((word) => RESERVED.has(word));
}
