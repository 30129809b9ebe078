/** API types of the catalog: models, prices, limits, and the inputs that change them. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import { connectionOf } from '../connections.ts';
import { BillingGroup, describeEnum, ModelTier, ModelTrait, WireFamily } from '../enums.ts';
import { UserError } from '../errors.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Decimal, Money } from '../scalars.ts';

export const ModelState = describeEnum('ModelState', 'Life of a model.', {
  DRAFT: 'Not offered yet.',
  PUBLISHED: 'Offered.',
  DEPRECATED: 'Offered, but going to be retired.',
  RETIRED: 'Not offered any more.',
});

/** What one flat price may buy at most. */
@ObjectType({ description: 'What one flat price may buy at most; beyond it a request is refused.' })
export class ModelLimits {
  @Field(() => Int, { description: 'Answers to one request (n).' })
  maxChoices!: number;

  @Field(() => Int, { description: 'Inputs of one embeddings, moderation or rerank request.' })
  maxInputs!: number;

  @Field(() => Int, { description: 'Size of the request body in bytes.' })
  maxBodyBytes!: number;

  @Field(() => [String], { description: 'Service tiers that may be asked for.' })
  serviceTiers!: string[];
}

/** What a success costs in one group. */
@ObjectType({ description: 'What a success costs in one group.' })
export class GroupPrice {
  @Field(() => BillingGroup, { description: 'The group.' })
  group!: Group;

  @Field(() => Decimal, { description: 'Its ratio.' })
  ratio!: string;

  @Field(() => Money, { description: 'Price × ratio, rounded half up to a whole micro-dollar.' })
  pricePerRequest!: bigint;
}

/** An endpoint that serves a model. */
@ObjectType({ description: 'An endpoint that serves a model.' })
export class ModelEndpoint {
  @Field(() => WireFamily, { description: 'Its family.' })
  family!: Family;

  @Field(() => String, { description: 'HTTP method.' })
  method!: string;

  @Field(() => String, { description: 'Path under the base address.' })
  path!: string;

  @Field(() => Boolean, { description: 'Whether it can stream.' })
  streaming!: boolean;
}

/** A model on offer. */
@ObjectType({ implements: NodeInterface, description: 'A model on offer.' })
export class CatalogModel extends NodeInterface {
  @Field(() => String, { description: 'Exact name that clients send as model.' })
  name!: string;

  @Field(() => String, { description: 'Name for people.' })
  displayName!: string;

  @Field(() => String, { description: 'What it is good for.' })
  description!: string;

  @Field(() => ModelTier, { description: 'Price tier.' })
  tier!: Tier;

  @Field(() => [ModelTrait], { description: 'What it is good at.' })
  traits!: Trait[];

  @Field(() => Int, { description: 'Size of the context in tokens.' })
  contextTokens!: number;

  @Field(() => Int, { nullable: true, description: 'Largest answer in tokens, where there is a bound.' })
  maxOutputTokens?: number | null;

  @Field(() => [String], { description: 'Kinds of content it reads: text, image, file, audio.' })
  inputModalities!: string[];

  @Field(() => [String], { description: 'Kinds of content it makes: text, image, audio, embedding.' })
  outputModalities!: string[];

  @Field(() => Money, { name: 'pricePerRequest', description: 'Price of one request before any ratio.' })
  price!: bigint;

  @Field(() => [BillingGroup], { description: 'Groups whose keys may use it.' })
  groups!: Group[];

  @Field(() => ModelLimits, { description: 'What one flat price may buy at most.' })
  limits!: ModelLimits;

  @Field(() => ModelState, { description: 'Life of the model.' })
  state!: keyof typeof ModelState;

  @Field(() => DateTime, { description: 'Last change.' })
  updatedAt!: Date;

  @Field(() => Int, { description: 'Counts changes; send it back with an update.' })
  version!: number;

  /** For the endpoints; not a field itself. */
  families!: Family[];
  deprecatedAt?: Date | null;
  retiresAt?: Date | null;
  replacementId?: string | null;
  deprecationNote?: string | null;
}

/** That a model goes away, and what comes in its place. */
@ObjectType({ description: 'That a model goes away, and what comes in its place.' })
export class ModelDeprecation {
  @Field(() => DateTime, { description: 'When it was announced.' })
  announcedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the model goes.' })
  retiresAt?: Date | null;

  @Field(() => CatalogModel, { nullable: true, description: 'What to use instead.' })
  replacement?: CatalogModel | null;

  @Field(() => String, { nullable: true, description: 'What to mind when leaving it, for people.' })
  note?: string | null;
}

export const CatalogModelConnection = connectionOf('CatalogModel', CatalogModel);

/** Which models to list. */
@InputType({ description: 'Which models to list.' })
export class CatalogFilter {
  @Field(() => String, { nullable: true, description: 'Part of the name.' })
  search?: string | null;

  @Field(() => [ModelTrait], { nullable: true, description: 'Only with all of these traits.' })
  traits?: Trait[] | null;

  @Field(() => [ModelTier], { nullable: true, description: 'Only of these tiers.' })
  tiers?: Tier[] | null;

  @Field(() => [WireFamily], { nullable: true, description: 'Only with all of these families.' })
  families?: Family[] | null;

  @Field(() => Money, { nullable: true, description: 'At most this price before any ratio.' })
  maxPrice?: bigint | null;

  @Field(() => BillingGroup, { nullable: true, description: 'Only what this group may use.' })
  group?: Group | null;

  @Field(() => [ModelState], {
    nullable: true,
    description: 'Only in these states; drafts and retired ones for administrators.',
  })
  states?: (keyof typeof ModelState)[] | null;
}

/** Limits to change; what is left out stays. */
@InputType({ description: 'Limits to change; what is left out stays.' })
export class ModelLimitsInput {
  @Field(() => Int, { nullable: true, description: 'Answers to one request (n).' })
  maxChoices?: number;

  @Field(() => Int, { nullable: true, description: 'Inputs of one request.' })
  maxInputs?: number;

  @Field(() => Int, { nullable: true, description: 'Size of the body in bytes.' })
  maxBodyBytes?: number;

  @Field(() => [String], { nullable: true, description: 'Service tiers that may be asked for.' })
  serviceTiers?: string[];
}

/** A new model, or with `id` and `version` a changed one. */
@InputType({ description: 'A new model, or with id and version a changed one.' })
export class AdminModelInput {
  @Field(() => ID, { nullable: true, description: 'The model to change.' })
  id?: string | null;

  @Field(() => Int, { nullable: true, description: 'Its version as read; needed with an id.' })
  version?: number | null;

  @Field(() => String, { description: 'Exact name that clients send.' })
  name!: string;

  @Field(() => String, { description: 'Name for people.' })
  displayName!: string;

  @Field(() => String, { description: 'What it is good for.' })
  description!: string;

  @Field(() => ModelTier, { description: 'Price tier.' })
  tier!: Tier;

  @Field(() => [ModelTrait], { description: 'What it is good at.' })
  traits!: Trait[];

  @Field(() => Int, { description: 'Size of the context in tokens.' })
  contextTokens!: number;

  @Field(() => Money, { description: 'Price of one request before any ratio.' })
  pricePerRequest!: bigint;

  @Field(() => [BillingGroup], { description: 'Groups whose keys may use it.' })
  groups!: Group[];

  @Field(() => [WireFamily], { description: 'Families it serves.' })
  families!: Family[];

  @Field(() => ModelLimitsInput, { nullable: true, description: 'What one flat price may buy at most.' })
  limits?: ModelLimitsInput | null;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** Moves a model through its life. */
@InputType({ description: 'Moves a model through its life.' })
export class AdminModelStateInput {
  @Field(() => ID, { description: 'The model.' })
  id!: string;

  @Field(() => ModelState, { description: 'The new state.' })
  state!: keyof typeof ModelState;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When a deprecated model retires by itself; not in the past.',
  })
  retiresAt?: Date | null;

  @Field(() => ID, { nullable: true, description: 'What to use instead.' })
  replacementId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'What its users are to mind when leaving it, at most 500 characters. Anybody may read it.',
  })
  note?: string | null;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** Result of a change of a model. */
@ObjectType({ description: 'Result of a change of a model.' })
export class CatalogModelPayload {
  @Field(() => CatalogModel, { nullable: true, description: 'The model.' })
  model?: CatalogModel | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
