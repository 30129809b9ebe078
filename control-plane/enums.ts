/** Enums of the API: names, internal values and descriptions in one place each. */
import 'reflect-metadata';
import { registerEnumType } from 'type-graphql';
import { FAMILIES, GROUPS, TIERS, TRAITS } from '@gateway/shared/catalog';
import type { DialectName, Family, Group, Tier, Trait } from '@gateway/shared/catalog';

/** Registers an enum whose internal values equal its names. The result is what decorators take as type. */
export function describeEnum<Name extends string>(
  name: string,
  description: string,
  values: Record<Name, string>,
): { readonly [N in Name]: N } {
  const names = Object.keys(values) as Name[];
  const internal = Object.fromEntries(names.map((value) => [value, value])) as { [N in Name]: N };
  register(name, description, { internal, descriptions: values });
  return internal;
}

/** Registers an enum whose internal values are others than its names, e.g. `DEFAULT` for `default`. */
export function translateEnum<Value extends string>(
  name: string,
  description: string,
  values: Record<string, readonly [Value, string]>,
): Readonly<Record<string, Value>> {
  const entries = Object.entries(values);
  const internal = Object.fromEntries(entries.map(([key, [value]]) => [key, value]));
  register(name, description, {
    internal,
    descriptions: Object.fromEntries(entries.map(([key, [, text]]) => [key, text])),
  });
  return internal;
}

interface EnumParts {
  internal: Record<string, string>;
  descriptions: Record<string, string>;
}

function register(name: string, description: string, { internal, descriptions }: EnumParts): void {
  const valuesConfig = Object.fromEntries(
    Object.entries(descriptions).map(([key, text]) => [key, { description: text }]),
  );
  registerEnumType(internal, { name, description, valuesConfig });
}

/** Shared words of the catalog in capitals, with a description each. */
function wordsOf<Value extends string>(
  values: readonly Value[],
  descriptions: Record<Value, string>,
): Record<string, readonly [Value, string]> {
  return Object.fromEntries(values.map((value) => [value.toUpperCase(), [value, descriptions[value]]]));
}

export const BillingGroup = translateEnum<Group>(
  'BillingGroup',
  'Decides the ratio on every price.',
  wordsOf(GROUPS, {
    default: 'Everybody.',
    vip: 'Granted by an administrator.',
    svip: 'Granted by an administrator.',
  }),
);

export const ModelTier = translateEnum<Tier>(
  'ModelTier',
  'Price tier of a model.',
  wordsOf(TIERS, {
    top_flagship: 'The most capable model.',
    second_flagship: 'Second most capable.',
    agentic_coding: 'For coding agents.',
    hard_reasoning: 'For problems that need long thought.',
    balanced: 'Daily driver.',
    fast_cheap: 'Quick and inexpensive.',
    budget_a: 'Least expensive.',
    budget_b: 'Inexpensive.',
  }),
);

export const ModelTrait = translateEnum<Trait>(
  'ModelTrait',
  'What a model is good at.',
  wordsOf(TRAITS, {
    reasoning: 'Thinks before it answers.',
    tools: 'Calls tools.',
    files: 'Reads files.',
    vision: 'Reads pictures.',
    long_context: 'One million tokens of context.',
    agentic_coding: 'Tuned for coding agents.',
    hard_reasoning: 'Tuned for hard problems.',
    balanced: 'Good at most things.',
    fast_cheap: 'Quick and inexpensive.',
    budget: 'Least expensive.',
  }),
);

export const WireFamily = translateEnum<Family>(
  'WireFamily',
  'A family of endpoints.',
  wordsOf(FAMILIES, {
    chat_completions: 'Chat completions.',
    completions: 'Legacy text completions.',
    messages: 'Messages.',
    responses: 'Responses, as agentic command-line clients use them.',
    generative_language: 'Generative language.',
    compact: 'Compacting a responses conversation.',
    embeddings: 'Embeddings.',
    audio: 'Transcription, translation, speech.',
    images: 'Generating and editing images.',
    rerank: 'Reranking documents.',
    moderations: 'Classifying content.',
    search: 'Standalone web search.',
    realtime: 'Realtime voice over WebSocket.',
  }),
);

export const ProviderProtocol = translateEnum<DialectName>(
  'ProviderProtocol',
  'A chat wire format that an upstream speaks.',
  {
    CHAT_COMPLETIONS: ['openai-chat', 'Chat completions.'],
    MESSAGES: ['anthropic-messages', 'Messages.'],
    RESPONSES: ['openai-responses', 'Responses.'],
    GENERATIVE_LANGUAGE: ['google-generate', 'Generative language.'],
  },
);

export const SortDirection = describeEnum('SortDirection', 'Order of a list.', {
  ASC: 'Smallest first.',
  DESC: 'Largest first.',
});

export const HealthStatus = describeEnum('HealthStatus', 'How something does.', {
  OK: 'Works.',
  DEGRADED: 'Works in part.',
  DOWN: 'Does not work.',
  UNKNOWN: 'Not observed yet.',
});

export const AccessScope = describeEnum('AccessScope', 'What an access token may do.', {
  KEYS_READ: 'Read API keys.',
  KEYS_WRITE: 'Make, reveal, change and disable API keys.',
  USAGE_READ: 'Read the usage log.',
  WALLET_READ: 'Read balances and the ledger.',
  WALLET_WRITE: 'Top up and change warnings.',
  POOLS_READ: 'Read dedicated pools.',
  POOLS_WRITE: 'Buy and change dedicated pools.',
  CATALOG_READ: 'Read the catalog, which everybody may.',
  ADMIN_USERS: 'Administer users and their keys, and read their usage.',
  ADMIN_CATALOG: 'Administer models and group ratios.',
  ADMIN_UPSTREAMS: 'Administer providers, credentials and routes.',
  ADMIN_WALLET: 'Administer balances and read every ledger.',
  ADMIN_STOREFRONT: 'Administer the storefront and pools.',
  ADMIN_AUDIT_READ: 'Read the audit log.',
  ADMIN_NODES: 'Administer nodes and read how the system does.',
});
export type AccessScope = keyof typeof AccessScope;
