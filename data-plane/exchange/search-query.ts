/**
 * Reads an agent's search request as sentences that a model with a web-search tool understands. Pure.
 * Commands: codex-rs/codex-api/src/search.rs in https://github.com/openai/codex
 */
import { invalidRequest } from '../call/refusals.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';

/** Maximum length of one task, in characters. */
const TASK_CHARACTERS = 4_000;

/** A search request as tasks for a model. */
export interface SearchQuery {
  /** Sentences, at least one. */
  tasks: string[];
  allowedDomains: string[];
  blockedDomains: string[];
  /** The search tool in OpenAI's responses format. */
  tool: JsonObject;
}

/** The sentence for each command. */
const SENTENCES: Record<string, (command: JsonObject) => string> = {
  search_query: ({ q, recency, domains }) => {
    const days = numberOf(recency);
    const sites = stringsOf(domains);
    const recent = days === undefined ? '' : ` Only what is at most ${days} days old.`;
    return `Search for: ${textOf(q)}.${recent}${sites.length > 0 ? ` Only on: ${sites.join(', ')}.` : ''}`;
  },
  image_query: ({ q }) => `Find pictures of: ${textOf(q)}. Give the URLs of their pages.`,
  open: ({ ref_id: reference, lineno }) => {
    const line = numberOf(lineno);
    return `Open ${textOf(reference)} and report its content${line ? ` from about line ${line} on` : ''}.`;
  },
  click: ({ ref_id: reference, id }) =>
    `Open ${textOf(reference)}, follow its link number ${String(id)}, and report the content.`,
  find: ({ ref_id: reference, pattern }) =>
    `Open ${textOf(reference)} and report every passage about: ${textOf(pattern)}.`,
  screenshot: ({ ref_id: reference }) => `Open ${textOf(reference)} and describe its content.`,
  finance: (command) => `Find the current market data for: ${JSON.stringify(command)}.`,
  weather: (command) => `Find the weather for: ${JSON.stringify(command)}.`,
  sports: (command) => `Find the sports results or schedule for: ${JSON.stringify(command)}.`,
  time: (command) => `Find the current time for: ${JSON.stringify(command)}.`,
};

/** The query of a request. Throws `invalid_request` if the request names no command and has no input. */
export function readSearchQuery({ input, commands, settings }: JsonObject): SearchQuery {
  const named = objectOf(commands);
  const tasks = Object.entries(SENTENCES).flatMap(([name, say]) =>
    objectsOf(named[name]).map((command) => say(command).slice(0, TASK_CHARACTERS)),
  );
  if (tasks.length === 0 && typeof input === 'string' && input.trim() !== '')
    tasks.push(`Search for: ${input.slice(0, TASK_CHARACTERS)}`);
  if (tasks.length === 0) {
    const message = 'Name at least one command, for example search_query with a text as "q".';
    throw invalidRequest(message, 'commands');
  }
  return { tasks, ...toolOf(objectOf(settings)) };
}

function toolOf(settings: JsonObject): Omit<SearchQuery, 'tasks'> {
  const filters = objectOf(settings.filters);
  const allowedDomains = stringsOf(filters.allowed_domains);
  const blockedDomains = stringsOf(filters.blocked_domains);
  const size = textOf(settings.search_context_size);
  const place = settings.user_location;
  return {
    allowedDomains,
    blockedDomains,
    tool: {
      type: 'web_search',
      ...(allowedDomains.length > 0 ? { filters: { allowed_domains: allowedDomains } } : {}),
      ...(size ? { search_context_size: size } : {}),
      ...(isObject(place) ? { user_location: place } : {}),
    },
  };
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
