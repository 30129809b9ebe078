/** Prompt templates, which are kept in this browser only: parsing, and changes of their list. */
import { SYSTEM_PROMPT_CHARACTERS_MAX } from '@gateway/shared/chat-parameters';

/** A named system prompt and message. */
export interface Template {
  name: string;
  systemPrompt: string;
  message: string;
}

/** Where the browser keeps the templates. */
export const STORED_AS = 'prompt-templates';
/** Name of an exported file. */
export const FILE_NAME = 'prompt-templates.json';
export const TEMPLATES_MAX = 100;
export const NAME_CHARACTERS_MAX = 80;
/** Maximum length of a system prompt or message, in characters. */
export const TEXT_CHARACTERS_MAX = SYSTEM_PROMPT_CHARACTERS_MAX;
/** Maximum length of the list as JSON, in characters: less than a browser stores. */
export const LIST_CHARACTERS_MAX = 2_000_000;
/** Maximum size of a file to import, in bytes: of a list in which each character takes three bytes. */
export const FILE_BYTES_MAX = 3 * LIST_CHARACTERS_MAX;

/** The templates of a stored or imported text; undefined if it is not a list of templates. */
export function templatesOf(text: string): Template[] | undefined {
  const parsed = parsedOf(text);
  if (!Array.isArray(parsed) || parsed.length > TEMPLATES_MAX) return undefined;
  const templates = parsed.map(templateOf);
  return templates.every((template) => template !== undefined) ? merged([], templates) : undefined;
}

/** The text of a file with these templates. */
export function textOf(templates: readonly Template[]): string {
  return `${JSON.stringify(templates, null, 2)}\n`;
}

/** The templates with others added, by name. A template with the same name is replaced. */
export function merged(templates: readonly Template[], added: readonly Template[]): Template[] {
  const byName = new Map([...templates, ...added].map((template) => [template.name, template]));
  return [...byName.values()].toSorted((left, right) => left.name.localeCompare(right.name));
}

/** Whether a browser keeps the list: it is neither too long nor too large. */
export function fits(templates: readonly Template[]): boolean {
  return templates.length <= TEMPLATES_MAX && JSON.stringify(templates).length <= LIST_CHARACTERS_MAX;
}

/** The templates without the one with this name. */
export function without(templates: readonly Template[], name: string): Template[] {
  return templates.filter((template) => template.name !== name);
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function templateOf(value: unknown): Template | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, systemPrompt = '', message = '' } = value as Record<keyof Template, unknown>;
  const isText = (text: unknown): text is string =>
    typeof text === 'string' && text.length <= TEXT_CHARACTERS_MAX;
  if (!isText(name) || !isText(systemPrompt) || !isText(message)) return undefined;
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > NAME_CHARACTERS_MAX) return undefined;
  return { name: trimmed, systemPrompt, message };
}
