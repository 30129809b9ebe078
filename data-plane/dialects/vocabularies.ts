/**
 * The closed vocabularies of requests and answers. The canonical model has words of its own, and each format
 * has a table with the image of every word. A word without an image is a loss: no value is ever copied.
 */

/** Processing tiers of a request or an answer, by all formats together. */
export const SERVICE_TIERS = ['auto', 'standard', 'flex', 'priority', 'scale', 'batch'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** Lengths of a text answer. Both OpenAI formats have the same words. */
export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export type Verbosity = (typeof VERBOSITIES)[number];

/** Kinds of output. */
export const MODALITIES = ['text', 'audio', 'image', 'video'] as const;
export type Modality = (typeof MODALITIES)[number];

/** Resolutions in which a model looks at a picture. Both OpenAI formats have the same words. */
export const DETAILS = ['auto', 'low', 'high', 'original'] as const;
export type Detail = (typeof DETAILS)[number];

/** How long a provider keeps a cached prompt. */
export const CACHE_RETENTIONS = ['in_memory', '24h'] as const;
export type CacheRetention = (typeof CACHE_RETENTIONS)[number];

/** The words of one format, and what each means. */
export type ReadTable<Word extends string> = Readonly<Record<string, Word>>;
/** The image of every word in one format; undefined if the format has none. */
export type WriteTable<Word extends string> = Readonly<Record<Word, string | undefined>>;

/** The meaning of a wire value; undefined if the format does not have it. */
export function wordOf<Word extends string>(table: ReadTable<Word>, value: unknown): Word | undefined {
  return typeof value === 'string' && Object.hasOwn(table, value) ? table[value] : undefined;
}

/** The table of a vocabulary whose words are written alike in the format. */
export function sameWords<Word extends string>(words: readonly Word[]): Readonly<Record<Word, Word>> {
  return Object.fromEntries(words.map((word) => [word, word])) as Record<Word, Word>;
}

/** Words that OpenAI's formats write as the gateway does. */
export const READ_DETAILS = sameWords(DETAILS);
export const READ_MODALITIES = sameWords(MODALITIES);
export const READ_VERBOSITIES = sameWords(VERBOSITIES);

/** `prompt_cache_retention` in both OpenAI formats. Older clients write a hyphen. */
export const READ_RETENTIONS: ReadTable<CacheRetention> = {
  ...sameWords(CACHE_RETENTIONS),
  'in-memory': 'in_memory',
};

/** `service_tier` in requests and answers of both OpenAI formats. */
export const OPENAI_READ_TIERS: ReadTable<ServiceTier> = {
  auto: 'auto',
  default: 'standard',
  flex: 'flex',
  scale: 'scale',
  priority: 'priority',
};
/** The image of a tier in both OpenAI formats. */
export const OPENAI_TIERS: WriteTable<ServiceTier> = {
  auto: 'auto',
  standard: 'default',
  flex: 'flex',
  scale: 'scale',
  priority: 'priority',
  batch: undefined,
};

/** The member `service_tier` of both OpenAI formats; empty if the tier is unknown or has no image. */
export function writeTier({ serviceTier }: { serviceTier?: ServiceTier } = {}): { service_tier?: string } {
  const tier = serviceTier && OPENAI_TIERS[serviceTier];
  return tier === undefined ? {} : { service_tier: tier };
}
