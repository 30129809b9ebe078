/** GraphQL operations of scheduled probes, for administrators only. */
import 'reflect-metadata';
import { Arg, Ctx, Field, FieldResolver, ID, InputType, Int, Mutation, Resolver, Root } from 'type-graphql';
import { audit } from '../audit/audit.service.ts';
import { inTransaction } from '../database/sql.ts';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserFailure } from '../graphql/errors.ts';
import { hasModelList } from './probe-target.ts';
import type { ProviderRow } from './upstream.entity.ts';
import { lockProvider } from './upstream.service.ts';
import { ProviderPayload, UpstreamProvider } from './upstream.type.ts';

/** Longest time between two probes, in minutes. */
const MINUTES_MAX = 1_440;

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

  @Field(() => Int, { nullable: true, description: `${MINUTES} 1 to ${MINUTES_MAX}.` })
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
    return outcome({ provider: null }, async () => ({ provider: await setProbing(context, input) }));
  }
}

function setProbing(context: Context, input: AdminProviderProbingInput): Promise<ProviderRow> {
  const { id, version, reason, probeMinutes = null } = input;
  if (probeMinutes !== null && (probeMinutes < 1 || probeMinutes > MINUTES_MAX))
    throw new UserFailure('INVALID', `Enter 1 to ${MINUTES_MAX} minutes, or nothing.`, 'probeMinutes');
  return inTransaction(context.em, async (inner) => {
    const provider = await lockProvider(inner, id, version);
    if (probeMinutes !== null && !hasModelList(provider.access ?? null))
      throw new UserFailure('INVALID', 'This kind of upstream cannot be probed regularly.', 'probeMinutes');
    const before = { probeMinutes: provider.probeMinutes ?? null };
    provider.probeMinutes = probeMinutes;
    await inner.flush();
    await audit(inner, {
      actor: actorOf(context),
      action: 'provider.probing',
      targetType: 'UpstreamProvider',
      targetId: id,
      before,
      after: { probeMinutes },
      reason,
    });
    return provider;
  });
}
