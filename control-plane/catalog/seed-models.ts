/** The catalog of a new installation: ten models, three billing groups. */
import { CHAT_FAMILIES } from '@gateway/shared/catalog';
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import type { Micros, Ratio } from '@gateway/shared/money';
import type { ModelLimitsRecord } from '@gateway/shared/records';

/** A model of a new installation. */
export interface SeedModel {
  name: string;
  displayName: string;
  description: string;
  tier: Tier;
  price: Micros;
  contextTokens: number;
  traits: Trait[];
  /** Families in addition to the chat families, which every model has. */
  extraFamilies: Family[];
}

const MEGABYTE = 1024 * 1024;

/** Limits of one request, unless an administrator changes them. */
export const DEFAULT_LIMITS: ModelLimitsRecord = {
  maxChoices: 1,
  maxInputs: 256,
  maxBodyBytes: 32 * MEGABYTE,
  serviceTiers: ['auto', 'default', 'standard_only'],
};

/** Price ratios of a new installation, in ten-thousandths. */
export const SEED_RATIOS: { name: Group; ratio: Ratio; description: string }[] = [
  { name: 'default', ratio: 10_000n, description: 'Everybody.' },
  { name: 'vip', ratio: 9_000n, description: 'Granted by an administrator.' },
  { name: 'svip', ratio: 8_000n, description: 'Granted by an administrator.' },
];

/** Models of a new installation, in the order of the catalog. */
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
    extraFamilies: ['compact', 'search', 'images'],
  },
  {
    name: 'flagship',
    displayName: 'Flagship',
    tier: 'second_flagship',
    price: 450_000n,
    contextTokens: 1_000_000,
    description: 'Nearly as capable at a lower price, with the same one million tokens of context.',
    traits: ['reasoning', 'tools', 'files', 'vision', 'long_context'],
    extraFamilies: ['compact', 'search'],
  },
  {
    name: 'coder-max',
    displayName: 'Coder Max',
    tier: 'agentic_coding',
    price: 300_000n,
    contextTokens: 400_000,
    description: 'For coding agents that plan, think and edit across a large repository.',
    traits: ['agentic_coding', 'reasoning', 'tools', 'files'],
    extraFamilies: ['compact', 'search'],
  },
  {
    name: 'coder',
    displayName: 'Coder',
    tier: 'agentic_coding',
    price: 300_000n,
    contextTokens: 256_000,
    description: 'For coding agents that want short answers and quick tool calls.',
    traits: ['agentic_coding', 'tools', 'files'],
    extraFamilies: ['compact', 'search'],
  },
  {
    name: 'reasoner',
    displayName: 'Reasoner',
    tier: 'hard_reasoning',
    price: 280_000n,
    contextTokens: 256_000,
    description: 'Thinks long before it answers: mathematics, proofs, puzzles, planning.',
    traits: ['hard_reasoning', 'reasoning', 'tools'],
    extraFamilies: ['compact'],
  },
  {
    name: 'balanced',
    displayName: 'Balanced',
    tier: 'balanced',
    price: 250_000n,
    contextTokens: 256_000,
    description: 'The daily driver: good at most things, reads files and pictures, speaks in realtime.',
    traits: ['balanced', 'tools', 'files', 'vision'],
    extraFamilies: ['realtime'],
  },
  {
    name: 'balanced-vision',
    displayName: 'Balanced Vision',
    tier: 'balanced',
    price: 250_000n,
    contextTokens: 256_000,
    description: 'A daily driver that is at home with pictures, reading and making them.',
    traits: ['balanced', 'tools', 'vision'],
    extraFamilies: ['images'],
  },
  {
    name: 'swift',
    displayName: 'Swift',
    tier: 'fast_cheap',
    price: 100_000n,
    contextTokens: 128_000,
    description: 'Quick and inexpensive, with speech in both directions.',
    traits: ['fast_cheap', 'tools'],
    extraFamilies: ['audio', 'realtime'],
  },
  {
    name: 'budget',
    displayName: 'Budget',
    tier: 'budget_a',
    price: 30_000n,
    contextTokens: 128_000,
    description: 'The least expensive: classification, extraction, embeddings, moderation.',
    traits: ['budget', 'tools'],
    extraFamilies: ['embeddings', 'moderations'],
  },
  {
    name: 'budget-plus',
    displayName: 'Budget Plus',
    tier: 'budget_b',
    price: 50_000n,
    contextTokens: 128_000,
    description: 'Inexpensive, a little more capable: summaries, embeddings, reranking.',
    traits: ['budget', 'tools'],
    extraFamilies: ['embeddings', 'rerank'],
  },
];

/** All families of a seed model. */
export function familiesOf(model: Pick<SeedModel, 'extraFamilies'>): Family[] {
  return [...CHAT_FAMILIES, ...model.extraFamilies];
}

/** Input and output modalities that follow from traits and families. */
export function modalitiesOf(
  traits: readonly Trait[],
  families: readonly Family[],
): { input: string[]; output: string[] } {
  const hasAudio = families.includes('audio') || families.includes('realtime');
  const hasImages = families.includes('images');
  return {
    input: [
      'text',
      ...(traits.includes('vision') || hasImages ? ['image'] : []),
      ...(traits.includes('files') ? ['file'] : []),
      ...(hasAudio ? ['audio'] : []),
    ],
    output: [
      'text',
      ...(hasImages ? ['image'] : []),
      ...(hasAudio ? ['audio'] : []),
      ...(families.includes('embeddings') ? ['embedding'] : []),
    ],
  };
}
