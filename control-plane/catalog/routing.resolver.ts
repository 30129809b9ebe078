/** GraphQL operations of how the routes of a model are chosen, for administrators only. */
import 'reflect-metadata';
import { Arg, Ctx, Field, FieldResolver, ID, InputType, Int, Mutation, Resolver, Root } from 'type-graphql';
import type { RoutingPolicy } from '@gateway/shared/routing';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { describeEnum } from '../graphql/enums.ts';
import { outcome } from '../graphql/errors.ts';
import { CatalogModel, CatalogModelPayload } from './catalog.type.ts';
import type { ModelRow } from './model.entity.ts';
import { setModelRouting } from './routing.service.ts';

const RoutingPolicyEnum = describeEnum<RoutingPolicy>(
  'RoutingPolicy',
  'How a route is chosen among those of one priority. A conversation keeps its route unless that is bad.',
  {
    FIXED: 'In proportion to the weights.',
    FASTEST: 'Of two routes drawn by weight, the one that was faster and more reliable in the last minutes.',
    CHEAPEST: 'The route with the lowest cost.',
  },
);

const HEDGED =
  'Whether a second upstream is asked if the first one takes longer than 95 % of the answers did. The ' +
  'customer is charged once; at most 5 % of the requests are sent twice.';

/** Input of `adminModelRoutingSet`. */
@InputType({ description: 'How the routes of a model are chosen.' })
class AdminModelRoutingInput {
  @Field(() => ID, { description: 'The model.' })
  id!: string;

  @Field(() => Int, { description: 'Version when it was read.' })
  version!: number;

  @Field(() => RoutingPolicyEnum, { description: 'How a route is chosen.' })
  routing!: RoutingPolicy;

  @Field(() => Boolean, { description: HEDGED })
  hedged!: boolean;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** How the routes of a model are chosen. */
@Resolver(() => CatalogModel)
export class ModelRoutingResolver {
  @Authorized('ADMIN')
  @FieldResolver(() => RoutingPolicyEnum, {
    nullable: true,
    description: 'How a route is chosen. Only administrators may read it.',
  })
  routing(@Root() model: ModelRow): RoutingPolicy {
    return model.routing;
  }

  @Authorized('ADMIN')
  @FieldResolver(() => Boolean, { nullable: true, description: `${HEDGED} Only administrators may read it.` })
  hedged(@Root() model: ModelRow): boolean {
    return model.hedged;
  }

  @Authorized('ADMIN')
  @Mutation(() => CatalogModelPayload, {
    description: 'Sets how the routes of a model are chosen, also for its copies in pools.',
  })
  adminModelRoutingSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminModelRoutingInput, { description: 'The policy.' }) input: AdminModelRoutingInput,
  ): Promise<CatalogModelPayload> {
    return outcome({ model: null }, async () => ({
      model: await setModelRouting(context.em, input, actorOf(context)),
    }));
  }
}
