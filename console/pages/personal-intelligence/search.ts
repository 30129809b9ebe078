/** Search parameters of the page of Personal Intelligence. */
import { textOf } from '../../components/search-parameters.ts';

export interface ItemsSearch {
  kind?: string | undefined;
  /** Text that the items contain. */
  find?: string | undefined;
  after?: string | undefined;
}

/** Parses the search parameters of the page. The page ignores unknown kinds. */
export function validItemsSearch({ kind, find, after }: Record<string, unknown>): ItemsSearch {
  return { kind: textOf(kind), find: textOf(find), after: textOf(after) };
}
