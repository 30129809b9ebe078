/** The check of the audit log's hash chain in the API. */
import 'reflect-metadata';
import { Arg, Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import type { Context } from '../graphql/context.ts';
import { requestError } from '../graphql/errors.ts';
import { checkChain } from './audit.service.ts';

/** Maximum of `recent`; to check more events, check the whole log. */
const RECENT_MAX = 10_000;

/** Result of a check of the hash chain. */
@ObjectType({
  description: 'Result of a check whether events of the audit log were changed, moved or removed.',
})
export class AuditChain {
  @Field(() => Boolean, { description: 'Whether every checked hash is correct.' })
  whole!: boolean;

  @Field(() => ID, {
    nullable: true,
    description: 'The first event whose content or position was changed; null if none was.',
  })
  brokenAt?: string | null;

  @Field(() => Int, { description: 'Number of events that are unchanged.' })
  checked!: number;

  @Field(() => Boolean, { description: 'Whether the check began at the first event of the log.' })
  complete!: boolean;
}

/** Checks the chain on request. */
@Resolver(() => AdminQuery)
export class AuditChainResolver {
  @FieldResolver(() => AuditChain, { description: 'Recomputes the hashes of the audit log.' })
  async auditChain(
    @Ctx() context: Context,
    @Arg('recent', () => Int, {
      nullable: true,
      description: 'Number of newest events to check, 1 to 10,000; the whole log if left out.',
    })
    recent: number | null,
  ): Promise<AuditChain> {
    if (typeof recent === 'number' && (recent < 1 || recent > RECENT_MAX))
      throw requestError('BAD_USER_INPUT', `recent must be between 1 and ${RECENT_MAX}.`);
    const found = await checkChain(context.em, recent ?? null);
    return { ...found, whole: found.brokenAt === null };
  }
}
