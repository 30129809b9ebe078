/** The chain of the audit log on the API: whether nobody changed what was written. */
import 'reflect-metadata';
import { Arg, Ctx, Field, FieldResolver, ID, Int, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../admin-query.ts';
import type { Context } from '../context.ts';
import { requestError } from '../errors.ts';
import { checkChain } from './audit.service.ts';

/** Whoever wants more has the whole log checked. */
const RECENT_MAX = 10_000;

/** Whether the chain holds. */
@ObjectType({
  description: 'Whether the events of the audit log are as they were written, where they were written.',
})
export class AuditChain {
  @Field(() => Boolean, { description: 'Whether every hash that was checked is right.' })
  whole!: boolean;

  @Field(() => ID, { nullable: true, description: 'The first event whose content or place was changed.' })
  brokenAt?: string | null;

  @Field(() => Int, { description: 'How many events were found right.' })
  checked!: number;

  @Field(() => Boolean, { description: 'Whether the check began at the first event of the log.' })
  complete!: boolean;
}

/** Checking it on demand. */
@Resolver(() => AdminQuery)
export class AuditChainResolver {
  @FieldResolver(() => AuditChain, { description: 'Computes the hashes of the audit log anew.' })
  async auditChain(
    @Ctx() context: Context,
    @Arg('recent', () => Int, {
      nullable: true,
      description: 'Only so many of the newest events, 1 to 10,000; the whole log when left out.',
    })
    recent: number | null,
  ): Promise<AuditChain> {
    if (typeof recent === 'number' && (recent < 1 || recent > RECENT_MAX))
      throw requestError('BAD_USER_INPUT', `recent must lie between 1 and ${RECENT_MAX}.`);
    const found = await checkChain(context.em, recent ?? null);
    return { ...found, whole: found.brokenAt === null };
  }
}
