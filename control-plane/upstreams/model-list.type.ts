/** GraphQL types of the models that a provider offers. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { Family } from '@gateway/shared/catalog';
import { WireFamily } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { UpstreamRoute } from './upstream.type.ts';

/** A model that a provider offers. */
@ObjectType({ description: 'A model that a provider offers.' })
export class OfferedModel {
  @Field(() => String, { description: "The provider's name of the model." })
  name!: string;

  @Field(() => Boolean, { description: 'Whether a route to it exists.' })
  routed!: boolean;
}

/** Input of `adminProviderModels`. */
@InputType({ description: 'The provider to ask.' })
export class AdminProviderModelsInput {
  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;
}

/** Result of `adminProviderModels`. */
@ObjectType({ description: 'The models that a provider offers.' })
export class ProviderModelsPayload {
  @Field(() => [OfferedModel], {
    nullable: true,
    description: 'At most 1000 models by name; null if the provider gave no list.',
  })
  models?: OfferedModel[] | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** A route among those to create. */
@InputType({ description: 'A route to create.' })
export class NewRouteInput {
  @Field(() => ID, { description: 'The model.' })
  modelId!: string;

  @Field(() => String, { description: "The provider's name of the model." })
  upstreamModel!: string;
}

/** Input of `adminRoutesCreate`. */
@InputType({ description: 'Routes to create together.' })
export class AdminRoutesInput {
  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => [NewRouteInput], { description: 'At most 100 routes.' })
  routes!: NewRouteInput[];

  @Field(() => [WireFamily], { description: 'Families that the provider serves with these models.' })
  families!: Family[];

  @Field(() => Int, { description: 'Priority of the routes, 0 to 1000.' })
  priority!: number;

  @Field(() => Int, { description: 'Share of the requests among routes of the same priority, 1 to 10,000.' })
  weight!: number;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Result of `adminRoutesCreate`. */
@ObjectType({ description: 'The created routes.' })
export class RoutesPayload {
  @Field(() => [UpstreamRoute], { nullable: true, description: 'The routes; null if the mutation failed.' })
  routes?: UpstreamRoute[] | null;

  @Field(() => [UserError], { description: 'Empty on success: all routes were created, or none.' })
  userErrors!: UserError[];
}
