/** The headers of requests in OpenAI's formats. */
import type { HeaderLine } from './header-table.ts';

const AUTHENTICATION = 'https://platform.openai.com/docs/api-reference/authentication';

/** None of these headers is sent, because they name accounts or switch on formats of other endpoints. */
export const OPENAI_HEADERS: readonly HeaderLine[] = [
  ['openai-organization', 'ours', '', AUTHENTICATION],
  ['openai-project', 'ours', '', AUTHENTICATION],
  ['openai-beta', 'flags', '', 'https://platform.openai.com/docs/api-reference/beta'],
];
