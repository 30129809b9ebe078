/** The headers of requests in OpenAI's formats. */
import type { HeaderLine } from './header-table.ts';

const AUTHENTICATION = 'https://platform.openai.com/docs/api-reference/authentication';

/** They name accounts, or switch on the formats of other endpoints: none is sent. */
export const OPENAI_HEADERS: readonly HeaderLine[] = [
  ['openai-organization', 'ours', '', AUTHENTICATION],
  ['openai-project', 'ours', '', AUTHENTICATION],
  ['openai-beta', 'flags', '', 'https://platform.openai.com/docs/api-reference/beta'],
];
