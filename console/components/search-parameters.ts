/** Parses search parameters: returns typed values, or undefined for anything else. */

const TEXT_CHARACTERS_MAX = 200;
/** The longest cursor that the service accepts. */
const CURSOR_CHARACTERS_MAX = 1_024;
const SORT = /^-?\w{1,30}$/;

/** The page of a list: the cursor of the item before or after it. On the first page both are undefined. */
export interface ListPage {
  after?: string | undefined;
  before?: string | undefined;
}

/** The page and the order of a list, as its address holds them. */
export interface ListSearch extends ListPage {
  /** The id of the column; with a minus in front, the largest value is first. */
  sort?: string | undefined;
}

/** The first page. Spread into the parameters of an address, it also removes the cursors of another page. */
export const FIRST_PAGE: ListPage = { after: undefined, before: undefined };

/**
 * The text of a parameter, or undefined. Accepts numbers, because the router parses a search for "42" as one.
 */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text.slice(0, TEXT_CHARACTERS_MAX) : undefined;
}

/** The parameter if it is one of `words`, otherwise undefined. */
export function wordOf<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value);
}

/** Parses the page of a list. */
export function pageOf(search: Record<string, unknown>): ListPage {
  return { after: cursorOf(search['after']), before: cursorOf(search['before']) };
}

/** Parses the page and the order of a list. */
export function listOf(search: Record<string, unknown>): ListSearch {
  const { sort } = search;
  return { ...pageOf(search), sort: typeof sort === 'string' && SORT.test(sort) ? sort : undefined };
}

/** The page as variables of a query. */
export function pageVariables({ after, before }: ListPage): { after: string | null; before: string | null } {
  return { after: after ?? null, before: before ?? null };
}

function cursorOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, CURSOR_CHARACTERS_MAX) : undefined;
}
