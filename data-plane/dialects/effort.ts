/** How much a model should think: words and token budgets into each other. */
import type { Effort, Reasoning } from './canonical.ts';

/** Token budgets that stand for the words where a format only counts tokens. */
const BUDGETS: Record<Effort, number> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
};

/** Whether thinking is asked for at all; false where it is switched off in words or tokens. */
export function isReasoningWanted(reasoning: Reasoning | undefined): boolean {
  return reasoning !== undefined && reasoning.effort !== 'none' && reasoning.budget !== 0;
}

/**
 * The wish as a word out of those that the target knows (weakest first); undefined where the model is to
 * decide.
 */
export function effortOf(reasoning: Reasoning, known: readonly Effort[]): Effort | undefined {
  const wish =
    reasoning.effort ??
    (reasoning.budget === undefined || reasoning.budget < 0 ? undefined : nearest(reasoning.budget));
  if (wish === undefined || known.includes(wish)) return wish;
  const size = BUDGETS[wish];
  return known.reduce<Effort | undefined>(
    (best, word) =>
      best === undefined || Math.abs(BUDGETS[word] - size) < Math.abs(BUDGETS[best] - size) ? word : best,
    undefined,
  );
}

/** The wish in tokens; undefined where the model is to decide. */
export function budgetOf(reasoning: Reasoning): number | undefined {
  if (reasoning.budget !== undefined) return reasoning.budget < 0 ? undefined : reasoning.budget;
  return reasoning.effort === undefined ? undefined : BUDGETS[reasoning.effort];
}

function nearest(budget: number): Effort {
  if (budget === 0) return 'none';
  if (budget <= BUDGETS.low) return 'low';
  return budget <= BUDGETS.medium ? 'medium' : 'high';
}
