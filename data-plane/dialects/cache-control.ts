/** Anthropic's cache mark `cache_control`, which chat clients also send (as for OpenRouter and LiteLLM). */
import type { Fields } from './fields.ts';

/** Reads the mark of a message, part or tool: the prompt up to here should be cached. Empty if absent. */
export function readCacheControl(fields: Fields): { cache?: { ttl?: string } } {
  const mark = fields.object('cache_control');
  if (!mark) return {};
  mark.ignore('type');
  const ttl = mark.string('ttl');
  return { cache: ttl === undefined ? {} : { ttl } };
}
