/** GraphQL operations of scheduled probes, for administrators only. */
import 'reflect-metadata';
import { Arg, Ctx, Field, FieldResolver, ID, InputType, Int, Mutation, Resolver, Root } from 'type-graphql';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import type { ProviderRow } from './upstream.entity.ts';
import { PROBE_MINUTES_MAX, setProbing } from './probing.ts';
import { ProviderPayload, UpstreamProvider } from './upstream.type.ts';

const MINUTES =
  'Minutes between two requests for its list of models, which cost nothing there; null for none. The ' +
  'result is the last probe of its health.';

/** Input of `adminProviderProbingSet`. */
@InputType({ description: 'How often a provider is probed.' })
class AdminProviderProbingInput {
  @Field(() => ID, { description: 'The provider.' })
  id!: string;

  @Field(() => Int, { description: 'Version when it was read.' })
  version!: number;

  @Field(() => Int, { nullable: true, description: `${MINUTES} 1 to ${PROBE_MINUTES_MAX}.` })
  probeMinutes?: number | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** How often a provider is probed. */
@Resolver(() => UpstreamProvider)
export class ProbingResolver {
  @FieldResolver(() => Int, { nullable: true, description: MINUTES })
  probeMinutes(@Root() provider: ProviderRow): number | null {
    return provider.probeMinutes ?? null;
  }

  @Authorized('ADMIN')
  @Mutation(() => ProviderPayload, { description: 'Sets how often a provider is probed. Off at first.' })
  adminProviderProbingSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminProviderProbingInput, { description: 'The interval.' })
    input: AdminProviderProbingInput,
  ): Promise<ProviderPayload> {
    return outcome({ provider: null }, async () => ({
      provider: await setProbing(context.em, input, actorOf(context)),
    }));
  }
}
