/** What of the pages of dedicated pools is in the address. */
import { textOf, wordOf } from '../../components/search-parameters.ts';

/** No address names more; the service has a limit of its own. */
const MODELS_MAX = 200;

export interface PoolsSearch {
  /** The names of the models that are picked, in that order: a choice can be linked to and come back to. */
  models?: string[] | undefined;
  after?: string | undefined;
}

export interface PoolSearch {
  /** Whether the receipt of what was just paid is shown. */
  paid?: 'now' | undefined;
}

/** Reads the search parameters of the page of all pools. */
export function validPoolsSearch(search: Record<string, unknown>): PoolsSearch {
  return { models: namesOf(search['models']), after: textOf(search['after']) };
}

function namesOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((name) => typeof name === 'string').slice(0, MODELS_MAX);
  return names.length > 0 ? [...new Set(names)] : undefined;
}

/** Reads the search parameters of the page of one pool. */
export function validPoolSearch(search: Record<string, unknown>): PoolSearch {
  return { paid: wordOf(search['paid'], ['now'] as const) };
}
