/** Validates changes of models before they are stored. */
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import type { Micros } from '@gateway/shared/money';
import type { ModelLimitsRecord } from '@gateway/shared/records';
import { UserFailure } from '../graphql/errors.ts';
import type { ModelRow, ModelState } from './model.entity.ts';
import { DEFAULT_LIMITS, modalitiesOf } from './seed-models.ts';

/** Names that clients send as `model`. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const TEXT_LENGTH_MAX = 2000;
/** Longest time that an upstream may store state, in days. */
const RETENTION_DAYS_MAX = 3_650;
/** The time for which OpenAI stores responses, in days. */
const RETENTION_DAYS_DEFAULT = 30;
const CONTEXT_TOKENS_MAX = 100_000_000;
const LIMITS_MAX: Omit<ModelLimitsRecord, 'serviceTiers'> = {
  maxChoices: 128,
  maxInputs: 2048,
  maxBodyBytes: 128 * 1024 * 1024,
};

/** A new model, or a change of the one with this `id` and `version`. */
export interface ModelChange {
  id?: string | null;
  version?: number | 'ANY' | null;
  name: string;
  displayName: string;
  description: string;
  tier: Tier;
  traits: Trait[];
  contextTokens: number;
  pricePerRequest: Micros;
  groups: Group[];
  families: Family[];
  limits?: Partial<ModelLimitsRecord> | null;
  passUnknown?: boolean | null;
  storesState?: boolean | null;
  stateRetentionDays?: number | null;
  reason: string;
}

/** Throws INVALID with the name of the field if the input is not valid. */
export function checkModel(input: ModelChange): void {
  const refuse = (field: string, message: string): never => {
    throw new UserFailure('INVALID', message, field);
  };
  if (!NAME.test(input.name))
    refuse('name', 'Enter a name of 1 to 63 characters: a–z, 0–9, dot, hyphen and underscore.');
  if (!input.displayName.trim() || input.displayName.length > 100)
    refuse('displayName', 'Enter a display name of 1 to 100 characters.');
  if (input.description.length > TEXT_LENGTH_MAX)
    refuse('description', `Enter a description of at most ${TEXT_LENGTH_MAX} characters.`);
  if (input.pricePerRequest <= 0n) refuse('pricePerRequest', 'Enter a price above zero.');
  if (input.contextTokens < 1 || input.contextTokens > CONTEXT_TOKENS_MAX)
    refuse('contextTokens', `Enter a context size of 1 to ${CONTEXT_TOKENS_MAX} tokens.`);
  const days = input.stateRetentionDays ?? RETENTION_DAYS_DEFAULT;
  if (days < 1 || days > RETENTION_DAYS_MAX)
    refuse('stateRetentionDays', `Enter a retention of 1 to ${RETENTION_DAYS_MAX} days.`);
  if (input.groups.length === 0) refuse('groups', 'Choose at least one group.');
  if (input.families.length === 0) refuse('families', 'Choose at least one family.');
  for (const [name, maximum] of Object.entries(LIMITS_MAX)) {
    const value = input.limits?.[name as keyof typeof LIMITS_MAX];
    if (value !== undefined && value !== null && (value < 1 || value > maximum)) {
      refuse('limits', `Set ${name} to a value from 1 to ${maximum}.`);
    }
  }
}

/** A change of a model's state. */
export interface StateChange {
  id: string;
  state: ModelState;
  retiresAt?: Date | null;
  replacementId?: string | null;
  note?: string | null;
  reason: string;
}

/** Maximum length of the note on a deprecated model. */
const NOTE_LENGTH_MAX = 500;

/** The trimmed note; null if it is empty. Throws INVALID if it is too long. */
export function checkNote(note: string | null | undefined): string | null {
  const text = note?.trim() ?? '';
  if (text.length > NOTE_LENGTH_MAX)
    throw new UserFailure('INVALID', `Enter a note of at most ${NOTE_LENGTH_MAX} characters.`, 'note');
  return text || null;
}

/** Throws INVALID if a deprecated model would retire in the past. */
export function checkRetirement({ state, retiresAt }: StateChange, now: Date): void {
  if (state !== 'DEPRECATED' || !retiresAt || retiresAt > now) return;
  throw new UserFailure(
    'INVALID',
    'The time of retirement is in the past. Choose a later time, or retire the model now.',
    'retiresAt',
  );
}

/** Columns that a change may leave out. */
type EarlierValues = Pick<ModelRow, 'limits' | 'passUnknown' | 'storesState' | 'stateRetentionDays'>;

/** The columns of a new or changed model. What the input may leave out is taken from `earlier`. */
export function valuesOf(
  input: ModelChange,
  earlier: EarlierValues = {
    limits: DEFAULT_LIMITS,
    passUnknown: false,
    storesState: false,
    stateRetentionDays: RETENTION_DAYS_DEFAULT,
  },
) {
  const { name, displayName, description, tier, contextTokens } = input;
  const given = Object.entries(input.limits ?? {}).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  const traits = [...new Set(input.traits)];
  const families = [...new Set(input.families)];
  const { input: inputModalities, output: outputModalities } = modalitiesOf(traits, families);
  return {
    name,
    displayName,
    description,
    tier,
    contextTokens,
    traits,
    families,
    inputModalities,
    outputModalities,
    price: input.pricePerRequest,
    groups: [...new Set(input.groups)],
    passUnknown: input.passUnknown ?? earlier.passUnknown,
    storesState: input.storesState ?? earlier.storesState,
    stateRetentionDays: input.stateRetentionDays ?? earlier.stateRetentionDays,
    limits: { ...earlier.limits, ...Object.fromEntries(given) },
  };
}
