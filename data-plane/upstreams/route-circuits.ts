/**
 * Circuits of routes: a route whose upstream no longer serves its model gets no requests, while other routes
 * to the same upstream get theirs. Only failing routes have a circuit, so healthy routes cost nothing.
 */
import type { GatewayError } from '@gateway/shared/failures';
import { REFUSED_WALLETS } from '../limits.ts';
import { CLOSED_CIRCUIT, afterFailure, afterInconclusive, afterStart, allowedRequests } from './circuit.ts';
import type { Circuit } from './circuit.ts';

/** Maximum number of failing routes that a node remembers. */
const ROUTES_MAX = 2_000;

/** A failing route, and the first wallets whose requests failed in a row. */
interface FailingRoute {
  circuit: Circuit;
  wallets: Set<string>;
}

/** A failed attempt. */
interface FailedAttempt {
  walletId: string;
  error: GatewayError;
  /** Whether the failure is about the credential: another one may be accepted. */
  credentialRefused: boolean;
  /** ms of the monotonic clock. */
  now: number;
}

/** Kept in memory and lost at a restart. Times are ms of a monotonic clock. */
export class RouteCircuits {
  readonly #failing = new Map<string, FailingRoute>();
  /** Random numbers from 0 to 1. */
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether the route failed so often that it gets no requests at the moment. */
  isEjected(routeId: string, now: number): boolean {
    const known = this.#failing.get(routeId);
    return known !== undefined && allowedRequests(known.circuit, now) === 'none';
  }

  /** Notes that a request is sent on the route. */
  started(routeId: string, now: number): void {
    const known = this.#failing.get(routeId);
    if (known) known.circuit = afterStart(known.circuit, now);
  }

  /** Notes that the route answered, which closes its circuit. */
  succeeded(routeId: string): void {
    if (this.#failing.size > 0) this.#failing.delete(routeId);
  }

  /**
   * Notes a failed attempt. Returns when the ejection ends, if the route is ejected now, else undefined. That
   * needs failures in a row of requests of several wallets, because one customer must not take a route from
   * the others. Refused credentials, busy upstreams and failures of the client say nothing about the route.
   */
  failed(
    routeId: string,
    { walletId, error: { code }, credentialRefused, now }: FailedAttempt,
  ): number | undefined {
    const known = this.#failing.get(routeId);
    const isOfRoute = code === 'upstream_failed' || code === 'upstream_timeout';
    if (!isOfRoute || credentialRefused) {
      if (known) known.circuit = afterInconclusive(known.circuit);
      return undefined;
    }
    const route = known ?? this.#add(routeId);
    if (route.wallets.size < REFUSED_WALLETS) route.wallets.add(walletId);
    const { circuit } = route;
    const isProven = route.wallets.size >= REFUSED_WALLETS;
    route.circuit = isProven
      ? afterFailure(circuit, now, this.#random())
      : { ...circuit, consecutive: circuit.consecutive + 1 };
    return route.circuit.ejections > circuit.ejections ? route.circuit.ejectedUntil : undefined;
  }

  #add(routeId: string): FailingRoute {
    const [oldest] = this.#failing.keys();
    if (this.#failing.size >= ROUTES_MAX && oldest !== undefined) this.#failing.delete(oldest);
    const route = { circuit: CLOSED_CIRCUIT, wallets: new Set<string>() };
    this.#failing.set(routeId, route);
    return route;
  }
}
