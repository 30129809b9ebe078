/** The order of routes for models that choose by cost or by speed. Pure. */
import type { CompiledRoute } from '../config/config.ts';
import type { RankedRoute } from './order.ts';
import { isSecondBetter } from './speed.ts';
import type { Speeds } from './speed.ts';

/** The policy and the measurements by which a route is chosen. */
interface AdaptiveOptions {
  policy: NonNullable<CompiledRoute['policy']>;
  speeds: Speeds;
  /** ms of the monotonic clock. */
  now: number;
  streamed: boolean;
  /** Whether the request belongs to a conversation, which keeps its route unless that is clearly slower. */
  isConversation: boolean;
}

/** The routes as the policy wants them within each priority; native formats stay before translated ones. */
export function adapted(ordered: readonly RankedRoute[], options: AdaptiveOptions): RankedRoute[] {
  return groupsOf(ordered).flatMap((group) =>
    options.policy === 'CHEAPEST' ? byCost(group) : fasterFirst(group, options),
  );
}

/** The routes of one priority that are native alike, group by group. */
function groupsOf(ordered: readonly RankedRoute[]): RankedRoute[][] {
  return [...Map.groupBy(ordered, ({ compiled, native }) => `${compiled.route.priority} ${native}`).values()];
}

/** The cheapest first. Routes of the same cost keep their order, those of unknown cost are last. */
function byCost(group: readonly RankedRoute[]): RankedRoute[] {
  const costOf = ({ compiled: { route } }: RankedRoute): number =>
    route.cost === undefined || route.cost === null ? Infinity : Number(route.cost);
  return group.toSorted((one, other) => (costOf(one) === costOf(other) ? 0 : costOf(one) - costOf(other)));
}

/** Power of two choices: the better of the first two routes, whose order is by score. */
function fasterFirst(
  [first, second, ...rest]: readonly RankedRoute[],
  { speeds, streamed, ...choice }: AdaptiveOptions,
): RankedRoute[] {
  if (!first || !second) return first ? [first] : [];
  const speedOf = ({ compiled }: RankedRoute) => speeds.of(compiled.route.id, streamed);
  return isSecondBetter(speedOf(first), speedOf(second), choice)
    ? [second, first, ...rest]
    : [first, second, ...rest];
}
