/** The catalog of a new installation: ten models, three groups. */
import { CHAT_FAMILIES } from '@gateway/shared/catalog';
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import type { Micros, Ratio } from '@gateway/shared/money';
import type { ModelLimitsRecord } from '@gateway/shared/records';

export interface SeedModel {
  name: string;
  displayName: string;
  description: string;
  tier: Tier;
  price: Micros;
  contextTokens: number;
  traits: Trait[];
  /** Besides the five chat families, which every model has. */
  besides: Family[];
}

const MEGABYTE = 1024 * 1024;

/** What one flat price buys at most unless an administrator says otherwise. */
export const DEFAULT_LIMITS: ModelLimitsRecord = {
  maxChoices: 1,
  maxInputs: 256,
  maxBodyBytes: 32 * MEGABYTE,
  serviceTiers: ['auto', 'default', 'standard_only'],
};

export const SEED_RATIOS: { name: Group; ratio: Ratio; description: string }[] = [
  { name: 'default', ratio: 10_000n, description: 'Everybody.' },
  { name: 'vip', ratio: 9_000n, description: 'Granted by an administrator.' },
  { name: 'svip', ratio: 8_000n, description: 'Granted by an administrator.' },
];

export const SEED_MODELS: SeedModel[] = [
  {
    name: 'flagship-max',
    displayName: 'Flagship Max',
    tier: 'top_flagship',
    price: 600_000n,
    contextTokens: 1_000_000,
    description:
      'The most capable: long documents, hard thinking, pictures and tools in one million tokens of context.',
    traits: ['reasoning', 'tools', 'files', 'vision', 'long_context'],
    besides: ['compact', 'search', 'images'],
  },
  {
    name: 'flagship',
    displayName: 'Flagship',
    tier: 'second_flagship',
    price: 450_000n,
    contextTokens: 1_000_000,
    description: 'Nearly as capable at a lower price, with the same one million tokens of context.',
    traits: ['reasoning', 'tools', 'files', 'vision', 'long_context'],
    besides: ['compact', 'search'],
  },
  {
    name: 'coder-max',
    displayName: 'Coder Max',
    tier: 'agentic_coding',
    price: 300_000n,
    contextTokens: 400_000,
    description: 'For coding agents that plan, think and edit across a large repository.',
    traits: ['agentic_coding', 'reasoning', 'tools', 'files'],
    besides: ['compact', 'search'],
  },
  {
    name: 'coder',
    displayName: 'Coder',
    tier: 'agentic_coding',
    price: 300_000n,
    contextTokens: 256_000,
    description: 'For coding agents that want short answers and quick tool calls.',
    traits: ['agentic_coding', 'tools', 'files'],
    besides: ['compact', 'search'],
  },
  {
    name: 'reasoner',
    displayName: 'Reasoner',
    tier: 'hard_reasoning',
    price: 280_000n,
    contextTokens: 256_000,
    description: 'Thinks long before it answers: mathematics, proofs, puzzles, planning.',
    traits: ['hard_reasoning', 'reasoning', 'tools'],
    besides: ['compact'],
  },
  {
    name: 'balanced',
    displayName: 'Balanced',
    tier: 'balanced',
    price: 250_000n,
    contextTokens: 256_000,
    description: 'The daily driver: good at most things, reads files and pictures, speaks in realtime.',
    traits: ['balanced', 'tools', 'files', 'vision'],
    besides: ['realtime'],
  },
  {
    name: 'balanced-vision',
    displayName: 'Balanced Vision',
    tier: 'balanced',
    price: 250_000n,
    contextTokens: 256_000,
    description: 'A daily driver that is at home with pictures, reading and making them.',
    traits: ['balanced', 'tools', 'vision'],
    besides: ['images'],
  },
  {
    name: 'swift',
    displayName: 'Swift',
    tier: 'fast_cheap',
    price: 100_000n,
    contextTokens: 128_000,
    description: 'Quick and inexpensive, with speech in both directions.',
    traits: ['fast_cheap', 'tools'],
    besides: ['audio', 'realtime'],
  },
  {
    name: 'budget',
    displayName: 'Budget',
    tier: 'budget_a',
    price: 30_000n,
    contextTokens: 128_000,
    description: 'The least expensive: classification, extraction, embeddings, moderation.',
    traits: ['budget', 'tools'],
    besides: ['embeddings', 'moderations'],
  },
  {
    name: 'budget-plus',
    displayName: 'Budget Plus',
    tier: 'budget_b',
    price: 50_000n,
    contextTokens: 128_000,
    description: 'Inexpensive, a little more capable: summaries, embeddings, reranking.',
    traits: ['budget', 'tools'],
    besides: ['embeddings', 'rerank'],
  },
];

/** All families of a seed model. */
export function familiesOf(model: Pick<SeedModel, 'besides'>): Family[] {
  return [...CHAT_FAMILIES, ...model.besides];
}

/** What goes in and comes out, by traits and families. */
export function modalitiesOf(
  traits: readonly Trait[],
  families: readonly Family[],
): { input: string[]; output: string[] } {
  const speaks = families.includes('audio') || families.includes('realtime');
  const draws = families.includes('images');
  return {
    input: [
      'text',
      ...(traits.includes('vision') || draws ? ['image'] : []),
      ...(traits.includes('files') ? ['file'] : []),
      ...(speaks ? ['audio'] : []),
    ],
    output: [
      'text',
      ...(draws ? ['image'] : []),
      ...(speaks ? ['audio'] : []),
      ...(families.includes('embeddings') ? ['embedding'] : []),
    ],
  };
}
