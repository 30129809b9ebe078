/** GraphQL types of the catalog: models, prices and limits. Inputs that change them: catalog.inputs.ts. */
import 'reflect-metadata';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import { connectionOf } from '../graphql/connections.ts';
import { BillingGroup, describeEnum, ModelTier, ModelTrait, WireFamily } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Decimal, Money } from '../graphql/scalars.ts';

export const ModelState = describeEnum('ModelState', 'State of a model.', {
  DRAFT: 'Not available yet.',
  PUBLISHED: 'Available.',
  DEPRECATED: 'Available, but will be retired.',
  RETIRED: 'No longer available, except in dedicated pools that include it.',
});

/** Limits of one request, which has a flat price. */
@ObjectType({ description: 'Limits of one request, which has a flat price. Larger requests are refused.' })
export class ModelLimits {
  @Field(() => Int, { description: 'Maximum number of choices (n).' })
  maxChoices!: number;

  @Field(() => Int, {
    description: 'Maximum number of inputs of an embeddings, moderation or rerank request.',
  })
  maxInputs!: number;

  @Field(() => Int, { description: 'Maximum size of the request body in bytes.' })
  maxBodyBytes!: number;

  @Field(() => [String], {
    description: 'Service tiers and other priced parts that requests may name, such as fast or mcp_servers.',
  })
  serviceTiers!: string[];
}

/** Price of a successful request in one billing group. */
@ObjectType({ description: 'Price of a successful request in one billing group.' })
export class GroupPrice {
  @Field(() => BillingGroup, { description: 'The group.' })
  group!: Group;

  @Field(() => Decimal, { description: 'Ratio of the group.' })
  ratio!: string;

  @Field(() => Money, { description: 'Price × ratio, rounded half up to a whole micro-dollar.' })
  pricePerRequest!: bigint;
}

/** An endpoint that serves a model. */
@ObjectType({ description: 'An endpoint that serves a model.' })
export class ModelEndpoint {
  @Field(() => WireFamily, { description: 'Family of the endpoint.' })
  family!: Family;

  @Field(() => String, { description: 'HTTP method.' })
  method!: string;

  @Field(() => String, { description: 'Path under the base address.' })
  path!: string;

  @Field(() => Boolean, { description: 'Whether it can stream.' })
  streaming!: boolean;
}

/** A model of the catalog. */
@ObjectType({ implements: GlobalObject, description: 'A model of the catalog.' })
export class CatalogModel extends GlobalObject {
  @Field(() => String, { description: 'Exact name that clients send as model.' })
  name!: string;

  @Field(() => String, { description: 'Display name.' })
  displayName!: string;

  @Field(() => String, { description: 'What the model is suited for.' })
  description!: string;

  @Field(() => ModelTier, { description: 'Price tier.' })
  tier!: Tier;

  @Field(() => [ModelTrait], { description: 'Abilities of the model.' })
  traits!: Trait[];

  @Field(() => Int, { description: 'Context size in tokens.' })
  contextTokens!: number;

  @Field(() => Int, { nullable: true, description: 'Maximum output in tokens; null if unlimited.' })
  maxOutputTokens?: number | null;

  @Field(() => [String], { description: 'Input modalities: text, image, file, audio.' })
  inputModalities!: string[];

  @Field(() => [String], { description: 'Output modalities: text, image, audio, embedding.' })
  outputModalities!: string[];

  @Field(() => Money, {
    name: 'pricePerRequest',
    description: 'Price of one successful request before the ratio of the group.',
  })
  price!: bigint;

  @Field(() => [BillingGroup], { description: 'Billing groups whose keys may use the model.' })
  groups!: Group[];

  @Field(() => ModelLimits, { description: 'Limits of one request.' })
  limits!: ModelLimits;

  @Field(() => Boolean, {
    description:
      'Whether requests in the format of the upstream may have members, headers and beta flags that the ' +
      'gateway does not know. If false, they are left out and named in x-gateway-dropped.',
  })
  passUnknown!: boolean;

  @Field(() => Boolean, {
    description:
      'Whether the provider of the model stores responses, conversations and cached contents if a request ' +
      'asks for that. The gateway stores none of them.',
  })
  storesState!: boolean;

  @Field(() => Int, {
    description: 'How long the provider stores them at most, in days. Has no effect without storesState.',
  })
  stateRetentionDays!: number;

  @Field(() => ModelState, { description: 'State of the model.' })
  state!: keyof typeof ModelState;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;

  @Field(() => Int, { description: 'Number of the version. Send it with adminModelUpsert.' })
  version!: number;

  /** Used to resolve other fields; these are not fields of the API. */
  families!: Family[];
  deprecatedAt?: Date | null;
  retiresAt?: Date | null;
  replacementId?: string | null;
  deprecationNote?: string | null;
}

/** Deprecation of a model. */
@ObjectType({ description: 'Deprecation of a model, and its replacement.' })
export class ModelDeprecation {
  @Field(() => DateTime, { description: 'When the deprecation was announced.' })
  announcedAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the model is retired; null if not decided.' })
  retiresAt?: Date | null;

  @Field(() => CatalogModel, { nullable: true, description: 'Model to use instead.' })
  replacement?: CatalogModel | null;

  @Field(() => String, { nullable: true, description: 'Note on the migration, for people.' })
  note?: string | null;
}

export const CatalogModelConnection = connectionOf('CatalogModel', CatalogModel);

/** Filters of a list of models. */
@InputType({ description: 'Filters of a list of models.' })
export class CatalogFilter {
  @Field(() => String, { nullable: true, description: 'Part of the name.' })
  search?: string | null;

  @Field(() => [ModelTrait], { nullable: true, description: 'Only models with all of these traits.' })
  traits?: Trait[] | null;

  @Field(() => [ModelTier], { nullable: true, description: 'Only models of these tiers.' })
  tiers?: Tier[] | null;

  @Field(() => [WireFamily], { nullable: true, description: 'Only models with all of these families.' })
  families?: Family[] | null;

  @Field(() => Money, { nullable: true, description: 'Maximum price before the ratio.' })
  maxPrice?: bigint | null;

  @Field(() => BillingGroup, { nullable: true, description: 'Only models that this group may use.' })
  group?: Group | null;

  @Field(() => [ModelState], {
    nullable: true,
    description: 'Only models in these states. Only administrators see drafts and retired models.',
  })
  states?: (keyof typeof ModelState)[] | null;
}

/** Result of a change of a model. */
@ObjectType({ description: 'Result of a change of a model.' })
export class CatalogModelPayload {
  @Field(() => CatalogModel, { nullable: true, description: 'The model; null if the mutation failed.' })
  model?: CatalogModel | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
