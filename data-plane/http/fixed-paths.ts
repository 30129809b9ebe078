/**
 * The routes whose path is fixed, found before Fastify sees the request. Fastify makes two objects for each
 * request and calls hooks, which no route needs. Fastify finds the other routes, and fixed paths in which
 * characters are escaped.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathOf } from './upgrade.ts';

/** One request and its response. `rest` is what `*` stands for in the path of the route. */
export interface Http {
  request: IncomingMessage;
  response: ServerResponse;
  rest: string;
}

/** Serves a request. */
export type Serve = (http: Http) => void;

/** The fixed paths of a server. */
export class FixedPaths {
  readonly #routes = new Map<string, Map<string, Serve>>();

  /** Adds a route. Does nothing if its path is not fixed. */
  add(methods: readonly string[], path: string, serve: Serve): void {
    if (path.includes('*')) return;
    const routes = this.#routes.get(path) ?? new Map<string, Serve>();
    for (const method of methods) routes.set(method, serve);
    this.#routes.set(path, routes);
  }

  /** The route of a request; undefined if its path is not fixed, or is unknown. */
  find({ method, url }: IncomingMessage): Serve | undefined {
    return this.#routes.get(pathOf(url))?.get(method ?? '');
  }
}
