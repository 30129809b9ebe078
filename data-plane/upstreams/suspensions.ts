/**
 * The suspended credentials of a node. Several refusals are needed before a credential is suspended, so that
 * the requests of one customer cannot take a credential from all others.
 */
import { CONFIRMATION_MS, REFUSED_WALLETS, SUSPENSIONS_MAX } from '../limits.ts';
import type { CompiledCredential } from '../config/config.ts';
import type { Candidate } from './attempt.ts';
import { CREDENTIAL_REFUSED_MS } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** Refusals with one status that no success has followed. */
interface Doubt {
  since: number;
  /** The requests or fetches of tokens (401), or the wallets (403), that were refused. */
  by: Set<string>;
}

/** The refused request or fetch of a token, and its wallet. */
interface Refused {
  /** Identifies the request, or the fetch of a token: many requests can wait for one fetch. */
  refusalId: string;
  walletId: string;
}

type Target = Pick<Candidate, 'credential'> & { route: { id: string } };

/**
 * Suspensions in memory; a restart forgets them. They are stored by the id and secret of a credential, so a
 * new secret is not suspended. A suspension for one route also has the id of the route.
 */
export class Suspensions {
  /** End of each suspension in ms of the monotonic clock. */
  readonly #until = new Map<string, number>();
  readonly #doubts = new Map<string, Doubt>();
  /** For each credential whose quota is nearly used up: until when other credentials are preferred. */
  readonly #spent = new Map<string, number>();

  /** When the suspension of the credential on this route ends, in ms of the monotonic clock; 0 for none. */
  until(credential: CompiledCredential, routeId: string): number {
    if (this.#until.size === 0) return 0;
    const key = keyOf(credential);
    return Math.max(this.#until.get(key) ?? 0, this.#until.get(onRoute(key, routeId)) ?? 0);
  }

  /** Whether another credential is to be preferred, because the quota of this one is nearly used up. */
  isSpent(credential: CompiledCredential, now: number): boolean {
    return this.#spent.size > 0 && (this.#spent.get(keyOf(credential)) ?? 0) > now;
  }

  /** Notes that the quota of the credential is nearly used up. False if that is known already. */
  spend(credential: CompiledCredential, { until, now }: { until: number; now: number }): boolean {
    const isNew = !this.isSpent(credential, now);
    const key = keyOf(credential);
    this.#spent.delete(key);
    remember(this.#spent, key, until);
    return isNew;
  }

  /** Notes that the upstream accepted the credential on this route. */
  accepted({ credential, route }: Target): void {
    if (this.#doubts.size === 0 || !credential) return;
    const key = keyOf(credential);
    this.#doubts.delete(key);
    this.#doubts.delete(onRoute(key, route.id));
  }

  /**
   * Applies a verdict. A 401 suspends the credential after two refusals, a 403 suspends it for
   * this route when requests of several wallets have; 429 does at once. Returns when the suspension of the
   * credential on this route ends; 0 for none.
   */
  refused(verdict: Verdict, { credential, route }: Target, by: Refused & { now: number }): number {
    if (!credential) return 0;
    const key = keyOf(credential);
    if (verdict.suspendCredentialMs > 0) this.#suspend(key, by.now + verdict.suspendCredentialMs);
    if (verdict.doubt === 'credential') this.#doubt(key, { by: by.refusalId, needed: 2, now: by.now });
    if (verdict.doubt === 'route')
      this.#doubt(onRoute(key, route.id), { by: by.walletId, needed: REFUSED_WALLETS, now: by.now });
    return this.until(credential, route.id);
  }

  #doubt(key: string, { by, needed, now }: { by: string; needed: number; now: number }): void {
    const known = this.#doubts.get(key);
    const isRecent = known !== undefined && now - known.since <= CONFIRMATION_MS;
    const doubt = isRecent ? known : { since: now, by: new Set<string>() };
    doubt.by.add(by);
    this.#doubts.delete(key);
    if (doubt.by.size >= needed) this.#suspend(key, now + CREDENTIAL_REFUSED_MS);
    else remember(this.#doubts, key, doubt);
  }

  #suspend(key: string, until: number): void {
    this.#until.delete(key);
    remember(this.#until, key, until);
  }
}

/** Adds an entry; forgets the oldest one of a full map. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= SUSPENSIONS_MAX) {
    const [oldest] = map.keys();
    if (oldest !== undefined) map.delete(oldest);
  }
  map.set(key, value);
}

function keyOf({ id, secret }: CompiledCredential): string {
  return `${id} ${secret}`;
}

function onRoute(key: string, routeId: string): string {
  return `${key} ${routeId}`;
}
