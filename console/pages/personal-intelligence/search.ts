/** Search parameters of the page of Personal Intelligence. */
import { type ListPage, pageOf, textOf } from '../../components/search-parameters.ts';

export interface ItemsSearch extends ListPage {
  kind?: string | undefined;
  /** Text that the items contain. */
  find?: string | undefined;
}

/** Parses the search parameters of the page. The page ignores unknown kinds. */
export function validItemsSearch(search: Record<string, unknown>): ItemsSearch {
  return { kind: textOf(search['kind']), find: textOf(search['find']), ...pageOf(search) };
}
