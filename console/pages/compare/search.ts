/** Search parameters of the comparison of models. */
import { textOf } from '../../components/search-parameters.ts';

/** Maximum number of models side by side. */
export const COMPARED_MAX = 4;

export interface CompareSearch {
  /** Names of the models, in their order from left to right; undefined for none. */
  models?: string[] | undefined;
}

/** Parses the search parameters: at most four different names. */
export function validCompareSearch(search: Record<string, unknown>): CompareSearch {
  const given: unknown[] = Array.isArray(search['models']) ? search['models'] : [];
  const names = given.map(textOf).filter((name) => name !== undefined);
  const models = [...new Set(names)].slice(0, COMPARED_MAX);
  return { models: models.length > 0 ? models : undefined };
}
