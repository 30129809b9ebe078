/** Registers enums of the API, and defines those that several domains use. */
import 'reflect-metadata';
import { registerEnumType } from 'type-graphql';
import { FAMILIES, GROUPS, TIERS, TRAITS } from '@gateway/shared/catalog';
import type { ProtocolName, Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import { CHAT_EFFORTS, CHAT_PARAMETERS } from '@gateway/shared/chat-parameters';
import type { ChatEffort, ChatParameter } from '@gateway/shared/chat-parameters';

/** Registers an enum whose internal values equal its names. Decorators take the result as type. */
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

/** Registers an enum whose internal values differ from its names, e.g. `DEFAULT` for `default`. */
function translateEnum<Value extends string>(
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

/** Enum names, internal values and descriptions of catalog words: each name is the word in capitals. */
function wordsOf<Value extends string>(
  values: readonly Value[],
  descriptions: Record<Value, string>,
): Record<string, readonly [Value, string]> {
  return Object.fromEntries(values.map((value) => [value.toUpperCase(), [value, descriptions[value]]]));
}

export const BillingGroup = translateEnum<Group>(
  'BillingGroup',
  'Billing group of a key: its ratio is applied to every price.',
  wordsOf(GROUPS, {
    default: 'Open to every account.',
    vip: 'Granted by an administrator.',
    svip: 'Granted by an administrator.',
  }),
);

export const ModelTier = translateEnum<Tier>(
  'ModelTier',
  'Price tier of a model.',
  wordsOf(TIERS, {
    top_flagship: 'The most capable model.',
    second_flagship: 'The second most capable model.',
    agentic_coding: 'For coding agents.',
    hard_reasoning: 'For problems that need long reasoning.',
    balanced: 'For everyday use.',
    fast_cheap: 'Fast and inexpensive.',
    budget_a: 'Least expensive.',
    budget_b: 'Inexpensive.',
  }),
);

export const ModelTrait = translateEnum<Trait>(
  'ModelTrait',
  'A strength or ability of a model.',
  wordsOf(TRAITS, {
    reasoning: 'Reasons before it answers.',
    tools: 'Calls tools.',
    files: 'Reads files.',
    vision: 'Reads images.',
    long_context: 'One million tokens of context.',
    agentic_coding: 'Tuned for coding agents.',
    hard_reasoning: 'Tuned for hard problems.',
    balanced: 'Suited to most tasks.',
    fast_cheap: 'Fast and inexpensive.',
    budget: 'Least expensive.',
  }),
);

export const ChatParameterEnum = translateEnum<ChatParameter>(
  'ChatParameter',
  'A parameter of a chat that users of the Playground can set.',
  wordsOf(CHAT_PARAMETERS, {
    temperature: 'Randomness of the reply.',
    max_tokens: 'Maximum number of tokens of the reply.',
    top_p: 'Only the most likely tokens that together have this probability.',
    effort: 'How much the model reasons before it answers.',
    stop: 'Texts that end the reply.',
    seed: 'The same seed makes replies more alike.',
  }),
);

export const ReplyEffort = translateEnum<ChatEffort>(
  'ReplyEffort',
  'How much a model reasons before it answers. Upstreams get the nearest effort that they know.',
  wordsOf(CHAT_EFFORTS, {
    none: 'No reasoning.',
    minimal: 'As little as possible.',
    low: 'Little.',
    medium: 'A medium amount.',
    high: 'Much.',
  }),
);

export const WireFamily = translateEnum<Family>(
  'WireFamily',
  'A family of endpoints with one wire format and one price.',
  wordsOf(FAMILIES, {
    chat_completions: 'Chat completions.',
    completions: 'Legacy text completions.',
    messages: 'Messages.',
    responses: 'Responses, used by agentic command-line clients.',
    generative_language: 'Generative language.',
    compact: 'Compaction of a responses conversation.',
    embeddings: 'Embeddings.',
    audio: 'Transcription, translation and speech.',
    images: 'Generating and editing images.',
    rerank: 'Reranking of documents.',
    moderations: 'Classification of content.',
    search: 'Standalone web search.',
    realtime: 'Realtime voice over WebSocket.',
  }),
);

export const ProviderProtocol = translateEnum<ProtocolName>(
  'ProviderProtocol',
  'A chat wire format that an upstream speaks.',
  {
    CHAT_COMPLETIONS: ['openai-chat', 'Chat completions.'],
    MESSAGES: ['anthropic-messages', 'Messages.'],
    RESPONSES: ['openai-responses', 'Responses.'],
    GENERATIVE_LANGUAGE: ['google-generate', 'Generative language.'],
    BEDROCK_CONVERSE: ['bedrock-converse', 'Converse of Amazon Bedrock. Only upstreams speak it.'],
  },
);

export const SortDirection = describeEnum('SortDirection', 'Order of a list.', {
  ASC: 'Smallest first.',
  DESC: 'Largest first.',
});

export const HealthStatus = describeEnum('HealthStatus', 'Health of a part of the gateway.', {
  OK: 'Works.',
  DEGRADED: 'Some parts fail or are slow.',
  DOWN: 'Does not work.',
  UNKNOWN: 'Not observed yet.',
});

export const AccessScope = describeEnum('AccessScope', 'A permission of an access token.', {
  KEYS_READ: 'Read API keys.',
  KEYS_WRITE: 'Create, reveal, change and disable API keys.',
  USAGE_READ: 'Read the usage log.',
  WALLET_READ: 'Read balances and the ledger.',
  WALLET_WRITE: 'Change the settings of the wallet.',
  POOLS_READ: 'Read dedicated pools.',
  POOLS_WRITE: 'Buy and change dedicated pools.',
  WEBHOOKS_READ: 'Read webhook endpoints and their deliveries.',
  WEBHOOKS_WRITE: 'Create, change and delete webhook endpoints, and repeat deliveries.',
  CATALOG_READ: 'Read the catalog, which needs no scope.',
  ADMIN_USERS: 'Administer users and their keys, and read their usage.',
  ADMIN_CATALOG: 'Administer models and group ratios.',
  ADMIN_UPSTREAMS: 'Administer providers, credentials and routes.',
  ADMIN_WALLET: 'Administer balances and read every ledger.',
  ADMIN_STOREFRONT: 'Administer the storefront and pools.',
  ADMIN_AUDIT_READ: 'Read the audit log.',
  ADMIN_NODES: 'Administer nodes, read the health of the system, and write incidents.',
});
export type AccessScope = keyof typeof AccessScope;
