/** What a model may look like, checked before anything is stored. */
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import type { Micros } from '@gateway/shared/money';
import type { ModelLimitsRecord } from '@gateway/shared/records';
import { UserFailure } from '../errors.ts';
import type { ModelState } from './model.entity.ts';
import { DEFAULT_LIMITS, modalitiesOf } from './seed-models.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const TEXT_LENGTH_MAX = 2000;
const CONTEXT_TOKENS_MAX = 100_000_000;
const LIMITS_MAX: Omit<ModelLimitsRecord, 'serviceTiers'> = {
  maxChoices: 128,
  maxInputs: 2048,
  maxBodyBytes: 128 * 1024 * 1024,
};

export interface ModelChange {
  id?: string | null;
  version?: number | null;
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
  reason: string;
}

/** Throws INVALID, with the field, for a model that cannot be. */
export function checkModel(input: ModelChange): void {
  const refuse = (field: string, message: string): never => {
    throw new UserFailure('INVALID', message, field);
  };
  if (!NAME.test(input.name))
    refuse('name', 'A name has 1 to 63 characters: a–z, 0–9, dot, hyphen and underscore.');
  if (!input.displayName.trim() || input.displayName.length > 100)
    refuse('displayName', 'Give a name of at most 100 characters.');
  if (input.description.length > TEXT_LENGTH_MAX)
    refuse('description', `At most ${TEXT_LENGTH_MAX} characters.`);
  if (input.pricePerRequest <= 0n) refuse('pricePerRequest', 'A price is more than zero.');
  if (input.contextTokens < 1 || input.contextTokens > CONTEXT_TOKENS_MAX)
    refuse('contextTokens', 'Not a size of context.');
  if (input.groups.length === 0) refuse('groups', 'Name at least one group.');
  if (input.families.length === 0) refuse('families', 'Name at least one family.');
  for (const [name, maximum] of Object.entries(LIMITS_MAX)) {
    const value = input.limits?.[name as keyof typeof LIMITS_MAX];
    if (value !== undefined && value !== null && (value < 1 || value > maximum)) {
      refuse('limits', `${name} lies between 1 and ${maximum}.`);
    }
  }
}

export interface StateChange {
  id: string;
  state: ModelState;
  retiresAt?: Date | null;
  replacementId?: string | null;
  note?: string | null;
  reason: string;
}

/** Of the note on a model that goes away. */
const NOTE_LENGTH_MAX = 500;

/** The note without blanks around it; null for none. Throws INVALID for one that is too long. */
export function checkNote(note: string | null | undefined): string | null {
  const text = note?.trim() ?? '';
  if (text.length > NOTE_LENGTH_MAX)
    throw new UserFailure('INVALID', `A note has at most ${NOTE_LENGTH_MAX} characters.`, 'note');
  return text || null;
}

/** Throws INVALID where a model would be offered until a moment that has passed. */
export function checkRetirement({ state, retiresAt }: StateChange, now: Date): void {
  if (state !== 'DEPRECATED' || !retiresAt || retiresAt > now) return;
  throw new UserFailure(
    'INVALID',
    'This moment has passed: name a later one, or retire the model.',
    'retiresAt',
  );
}

/** The columns of a changed model; limits that are not named stay as `limits`. */
export function valuesOf(input: ModelChange, limits: ModelLimitsRecord = DEFAULT_LIMITS) {
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
    limits: { ...limits, ...Object.fromEntries(given) },
  };
}
