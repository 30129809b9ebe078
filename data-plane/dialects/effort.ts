/** Converts between the two ways to request thinking: effort levels and token budgets. */
import type { Effort, Reasoning } from './canonical.ts';

/** The token budget that replaces each effort in formats that only know budgets. */
const BUDGETS: Record<Effort, number> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
};

/** Whether thinking is requested; false if it is switched off by effort or budget. */
export function isReasoningWanted(reasoning: Reasoning | undefined): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none' && reasoning.budget !== 0;
}

/**
 * The requested effort as the nearest one that the target knows; undefined if the model decides. `known`
 * lists the target's efforts, weakest first.
 */
export function effortOf(reasoning: Reasoning, known: readonly Effort[]): Effort | undefined {
  const requested =
    reasoning.effort ??
    (reasoning.budget === undefined || reasoning.budget < 0 ? undefined : nearest(reasoning.budget));
  if (requested === undefined || known.includes(requested)) return requested;
  const size = BUDGETS[requested];
  return known.reduce<Effort | undefined>(
    (best, effort) =>
      best === undefined || Math.abs(BUDGETS[effort] - size) < Math.abs(BUDGETS[best] - size) ? effort : best,
    undefined,
  );
}

/** The requested thinking budget in tokens; undefined if the model decides. */
export function budgetOf(reasoning: Reasoning): number | undefined {
  if (reasoning.budget !== undefined) return reasoning.budget < 0 ? undefined : reasoning.budget;
  return reasoning.effort === undefined ? undefined : BUDGETS[reasoning.effort];
}

function nearest(budget: number): Effort {
  if (budget === 0) return 'none';
  if (budget <= BUDGETS.low) return 'low';
  return budget <= BUDGETS.medium ? 'medium' : 'high';
}
