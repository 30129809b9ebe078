/**
 * Search parameters of the Playground: the chat, the model, the comparison, and the search and page of the
 * chat list.
 */
import { type ListPage, pageOf, textOf } from '../../components/search-parameters.ts';

export interface PlaygroundSearch extends ListPage {
  chat?: string | undefined;
  model?: string | undefined;
  /** Names of compared models, with commas between them; without it, the page shows a chat. */
  compare?: string | undefined;
  /** The search text of the chat list. */
  find?: string | undefined;
}

/** Parses the search parameters of the Playground. */
export function validPlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  return {
    chat: textOf(search['chat']),
    model: textOf(search['model']),
    compare: textOf(search['compare']),
    find: textOf(search['find']),
    ...pageOf(search),
  };
}
