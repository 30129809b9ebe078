/** The clients that can be set up, in the order of the picker. */
import type { PickerGroup } from '../../components/picker.tsx';
import type { TFunction } from '../../translation.ts';

const AGENTS = { CLAUDE_CODE: 'Claude Code', CODEX: 'Codex', GEMINI_CLI: 'Gemini CLI', OPENCODE: 'opencode' };
const SDKS = {
  OPENAI_PYTHON: 'OpenAI Python',
  OPENAI_NODE: 'OpenAI Node',
  ANTHROPIC_PYTHON: 'Anthropic Python',
  ANTHROPIC_NODE: 'Anthropic Node',
  GOOGLE_GENAI: 'Google GenAI',
  AI_SDK: 'AI SDK',
};
const OTHERS = { CURL: 'curl' };

/** The clients' names, which are the same in all languages. */
export const CLIENT_NAMES = { ...AGENTS, ...SDKS, ...OTHERS };
export type Client = keyof typeof CLIENT_NAMES;

/** The client of this name; the first one if there is none. */
export function clientOf(name: string | undefined): Client {
  return isClient(name) ? name : 'CLAUDE_CODE';
}

function isClient(name: string | undefined): name is Client {
  return name !== undefined && name in CLIENT_NAMES;
}

/** The groups of the picker. */
export function clientGroups(t: TFunction): PickerGroup[] {
  const optionsOf = (names: object) =>
    Object.entries(names).map(([value, word]) => ({ value, word: String(word) }));
  return [
    { title: t('connect.agents'), options: optionsOf(AGENTS) },
    { title: t('connect.sdks'), options: optionsOf(SDKS) },
    { title: t('connect.others'), options: optionsOf(OTHERS) },
  ];
}
