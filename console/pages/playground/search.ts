/** What of the Playground is in the address: the chat, so that a reload comes back to it, and the model. */
import { textOf } from '../../components/search-parameters.ts';

export interface PlaygroundSearch {
  chat?: string | undefined;
  model?: string | undefined;
}

/** Reads the search parameters of the Playground. */
export function validPlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  return { chat: textOf(search['chat']), model: textOf(search['model']) };
}
