/** In which order the upstreams of a model are asked. Pure. */
import type { DialectName } from '@gateway/shared/catalog';
import type { CompiledRoute } from '../config/config.ts';
import type { Dialect } from '../dialects/dialect.ts';

/** A route together with the format it will be asked in. */
export interface Choice {
  compiled: CompiledRoute;
  dialect: Dialect;
  native: boolean;
}

export interface OrderOptions {
  dialects: Partial<Record<DialectName, Dialect>>;
  /** The client's own format: upstreams that speak it need no translation and come first among equals. */
  preferred: DialectName | undefined;
  /** The formats that can serve the request at all, the best first; absent: every one. */
  capable?: readonly DialectName[] | undefined;
  /** Random numbers from 0 to 1. */
  random: () => number;
}

/**
 * Lower priority number first, native before translated, then by weighted lot. Routes we speak no format of
 * are left out.
 */
export function inOrder(routes: readonly CompiledRoute[], options: OrderOptions): Choice[] {
  const choices = routes.flatMap((compiled) => choose(compiled, options) ?? []);
  // Most models have one route: nothing is drawn then.
  if (choices.length < 2) return choices;
  const drawn = choices.map((choice) => ({ choice, lot: lot(choice.compiled.route.weight, options.random) }));
  drawn.sort(
    (a, b) =>
      a.choice.compiled.route.priority - b.choice.compiled.route.priority ||
      Number(b.choice.native) - Number(a.choice.native) ||
      b.lot - a.lot,
  );
  return drawn.map(({ choice }) => choice);
}

function choose(compiled: CompiledRoute, { dialects, preferred, capable }: OrderOptions): Choice | undefined {
  const { protocols } = compiled.provider;
  const native = preferred !== undefined && protocols.includes(preferred);
  const name = native
    ? preferred
    : (capable ?? protocols).find((protocol) => protocols.includes(protocol) && dialects[protocol]);
  const dialect = name && dialects[name];
  return dialect ? { compiled, dialect, native } : undefined;
}

/**
 * Efraimidis and Spirakis: sorting by random^(1/weight) draws without replacement in proportion to the
 * weights.
 */
function lot(weight: number, random: () => number): number {
  return weight > 0 ? random() ** (1 / weight) : 0;
}
