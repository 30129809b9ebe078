/**
 * What of the Playground is in the address: the chat, so that a reload comes back to it, the model, what the
 * chats are searched for, and the page of their list.
 */
import { textOf } from '../../components/search-parameters.ts';

export interface PlaygroundSearch {
  chat?: string | undefined;
  model?: string | undefined;
  /** What the list of chats is searched for. */
  find?: string | undefined;
  /** The cursor that the page of the list follows. */
  after?: string | undefined;
}

/** Reads the search parameters of the Playground. */
export function validPlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  return {
    chat: textOf(search['chat']),
    model: textOf(search['model']),
    find: textOf(search['find']),
    after: textOf(search['after']),
  };
}
