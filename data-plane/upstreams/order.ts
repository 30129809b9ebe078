/** The order in which the upstreams of a model are asked. Pure. */
import type { DialectName, ProtocolName } from '@gateway/shared/catalog';
import type { CompiledRoute } from '../config/config.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import { scoreOf, weightedScore } from './affinity.ts';

/** A route and the format in which its upstream is asked. */
export interface RankedRoute {
  compiled: CompiledRoute;
  dialect: UpstreamDialect;
  /** Whether that is the client's own format. */
  native: boolean;
}

interface RankOptions {
  dialects: Partial<Record<ProtocolName, UpstreamDialect>>;
  /**
   * The client's own format: upstreams that speak it need no translation and come first at equal priority.
   */
  preferred: DialectName | undefined;
  /** The formats that can serve the request, the best first; absent: all of them. */
  capable?: readonly ProtocolName[] | undefined;
  /** Decides between routes of one priority: a conversation's seed, or a random one. */
  seed: number;
}

/**
 * The routes whose upstream speaks a usable format. Lower priority numbers come first, then native before
 * translated routes, then higher weighted scores (affinity.ts).
 */
export function rankRoutes(routes: readonly CompiledRoute[], options: RankOptions): RankedRoute[] {
  const usable: RankedRoute[] = [];
  for (const compiled of routes) {
    const ranked = withFormat(compiled, options);
    if (ranked) usable.push(ranked);
  }
  // Most models have one route, which needs no score.
  if (usable.length < 2) return usable;
  const scored = usable.map((ranked) => ({
    ranked,
    score: weightedScore(scoreOf(options.seed, ranked.compiled.route.id), ranked.compiled.route.weight),
  }));
  scored.sort(
    (a, b) =>
      a.ranked.compiled.route.priority - b.ranked.compiled.route.priority ||
      Number(b.ranked.native) - Number(a.ranked.native) ||
      b.score - a.score,
  );
  return scored.map(({ ranked }) => ranked);
}

function withFormat(
  compiled: CompiledRoute,
  { dialects, preferred, capable }: RankOptions,
): RankedRoute | undefined {
  const { protocols } = compiled.provider;
  const native = preferred !== undefined && protocols.includes(preferred);
  const name = native
    ? preferred
    : (capable ?? protocols).find((protocol) => protocols.includes(protocol) && dialects[protocol]);
  const dialect = name && dialects[name];
  return dialect ? { compiled, dialect, native } : undefined;
}
