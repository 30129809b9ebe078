/** The registry: every chat wire format that the gateway speaks, by name. */
import type { DialectName } from '@gateway/shared/catalog';
import { anthropicMessages } from './anthropic-messages/index.ts';
import type { Dialect } from './dialect.ts';
import { googleGenerate } from './google-generate/index.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiCompletions } from './openai-completions/index.ts';
import { compact, readCompaction } from './openai-responses/compact.ts';
import { openaiResponses } from './openai-responses/index.ts';

export const DIALECTS: Record<DialectName, Dialect> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  'google-generate': googleGenerate,
};

/** What clients speak and no upstream: legacy text completions. */
export const COMPLETIONS = openaiCompletions;

/** Compacting a responses conversation, which any chat upstream can do and some do by themselves. */
export const COMPACTION = { inbound: compact, path: '/responses/compact', readUsage: readCompaction };
