/** Recent uses of credentials, suspended credentials and ejected routes of this node, for its heartbeats. */
import { CREDENTIALS_MAX, ROUTES_MAX } from '@gateway/shared/upstream-health';
import type { CredentialReport, Fault, RouteReport } from '@gateway/shared/upstream-health';
import { WINDOW_SPAN_MS } from './window.ts';

interface Use {
  usedAt: number;
  fault: Fault | undefined;
  faultAt: number;
  suspendedUntil: number;
  spentUntil: number;
}

/** The credentials that were used within the window. Times are ms of a monotonic clock. */
export class CredentialUses {
  readonly #uses = new Map<string, Use>();

  /** Notes that a request is sent with the credential. */
  used(id: string, at: number): void {
    const known = this.#uses.get(id);
    if (known) known.usedAt = at;
    else this.#uses.set(id, { usedAt: at, fault: undefined, faultAt: 0, suspendedUntil: 0, spentUntil: 0 });
  }

  /** Notes what is known now of a credential that was used. */
  note(id: string | undefined, change: Partial<Use>): void {
    const use = id === undefined ? undefined : this.#uses.get(id);
    if (use) Object.assign(use, change);
  }

  /** The last used come first. */
  report(now: number): CredentialReport[] {
    for (const [id, { usedAt }] of this.#uses) if (now - usedAt > WINDOW_SPAN_MS) this.#uses.delete(id);
    return [...this.#uses]
      .map(([id, use]) => reportOf(id, use, now))
      .sort((one, other) => one.usedMsAgo - other.usedMsAgo)
      .slice(0, CREDENTIALS_MAX);
  }
}

function reportOf(credentialId: string, use: Use, now: number): CredentialReport {
  const { usedAt, fault, faultAt, suspendedUntil, spentUntil } = use;
  const left = (until: number): number | null => (until > now ? Math.round(until - now) : null);
  return {
    credentialId,
    usedMsAgo: Math.round(now - usedAt),
    ...(fault && now - faultAt <= WINDOW_SPAN_MS
      ? { lastError: fault, lastErrorMsAgo: Math.round(now - faultAt) }
      : { lastError: null, lastErrorMsAgo: null }),
    suspendedMs: left(suspendedUntil),
    spentMs: left(spentUntil),
  };
}

/** The routes that are ejected at the moment. Times are ms of a monotonic clock. */
export class OpenRoutes {
  /** When each ejection ends; the last ejected route comes last. */
  readonly #until = new Map<string, number>();

  /** Notes that the route is ejected until this time. */
  opened(routeId: string, until: number): void {
    this.#until.delete(routeId);
    this.#until.set(routeId, until);
    const [oldest] = this.#until.keys();
    if (this.#until.size > ROUTES_MAX && oldest !== undefined) this.#until.delete(oldest);
  }

  /** The last ejected come first. */
  report(now: number): RouteReport[] {
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
    return [...this.#until]
      .map(([routeId, until]) => ({ routeId, openMs: Math.round(until - now) }))
      .reverse();
  }
}
