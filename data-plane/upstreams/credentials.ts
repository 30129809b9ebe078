/** Chooses the credential of an upstream for a request. */
import { GatewayError } from '@gateway/shared/failures';
import { bindingOf } from '@gateway/shared/clouds/access';
import type { CompiledCredential, CompiledRoute } from '../config/config.ts';
import { scoreOf } from './affinity.ts';
import { addressOf } from './connections.ts';
import type { Suspensions } from './suspensions.ts';

interface ChoiceOptions {
  /** Decides between the usable credentials. */
  seed: number;
  /** A credential that the upstream has just refused. */
  refused?: CompiledCredential | undefined;
}

/** The credentials of a route that may be used at `now`, in ms of the monotonic clock. */
export class RouteCredentials {
  readonly #compiled: CompiledRoute;
  readonly #suspensions: Suspensions;
  readonly #now: number;

  constructor(compiled: CompiledRoute, suspensions: Suspensions, now: number) {
    this.#compiled = compiled;
    this.#suspensions = suspensions;
    this.#now = now;
  }

  /** Whether the upstream needs a credential, or at least has some. */
  get needed(): boolean {
    return this.#compiled.credentials.length > 0;
  }

  /**
   * The usable credential with the highest score, except the refused one; undefined if there is none. Chooses
   * a credential whose quota is nearly used up only if there is no other.
   */
  choose({ seed, refused }: ChoiceOptions): CompiledCredential | undefined {
    const { credentials } = this.#compiled;
    // Most upstreams have one credential, which needs no score.
    if (credentials.length === 1) return this.#only(credentials[0], refused);
    let best: CompiledCredential | undefined;
    let bestScore = 0;
    for (const credential of this.#usable()) {
      if (credential.id === refused?.id) continue;
      // Scores are below 1, so the preference decides first.
      const score = scoreOf(seed, credential.id) + this.#preference(credential);
      if (score <= bestScore) continue;
      best = credential;
      bestScore = score;
    }
    return best;
  }

  #only(credential: CompiledCredential | undefined, refused: CompiledCredential | undefined) {
    const isFree = credential && credential.id !== refused?.id;
    return isFree && this.#isBound(credential) && this.#isActive(credential) ? credential : undefined;
  }

  /** 0 for a credential whose quota is nearly used up, else 1. */
  #preference(credential: CompiledCredential): number {
    return this.#suspensions.isSpent(credential, this.#now) ? 0 : 1;
  }

  /** Whether another credential than the refused one is usable. */
  hasOther(refused: CompiledCredential): boolean {
    return this.#usable().some(({ id }) => id !== refused.id);
  }

  /** The failure of a request for which there was no credential: `upstream_busy` if one will be usable. */
  failure(): GatewayError {
    const bound = this.#bound();
    if (bound.length === 0) return noBoundCredential();
    const { route } = this.#compiled;
    const until = Math.min(...bound.map((credential) => this.#suspensions.until(credential, route.id)));
    return new GatewayError('upstream_busy', 'The upstream is busy. Try again in a moment.', {
      retryAfterMs: until - this.#now,
    });
  }

  /** A credential may only be sent to the origin that it was set for, and only in the way it was set for. */
  #isBound({ origin, binding }: CompiledCredential): boolean {
    const { provider } = this.#compiled;
    return origin === addressOf(provider).origin && binding === bindingOf(provider.access);
  }

  /** Whether the credential is not suspended. */
  #isActive(credential: CompiledCredential): boolean {
    return this.#suspensions.until(credential, this.#compiled.route.id) <= this.#now;
  }

  #bound(): CompiledCredential[] {
    return this.#compiled.credentials.filter((credential) => this.#isBound(credential));
  }

  #usable(): CompiledCredential[] {
    return this.#bound().filter((credential) => this.#isActive(credential));
  }
}

function noBoundCredential(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream is not reachable. Try again later.', {
    cause: new Error('no credential is bound to the origin of the base URL'),
  });
}
