/** The chain of the audit log on the API: whether nobody changed what was written. */
import 'reflect-metadata';
import { Ctx, Field, FieldResolver, ID, ObjectType, Resolver } from 'type-graphql';
import { AdminQuery } from '../admin-query.ts';
import type { Context } from '../context.ts';
import { brokenLink } from './audit.service.ts';

/** Whether the chain holds. */
@ObjectType({
  description: 'Whether every event of the audit log is as it was written, where it was written.',
})
export class AuditChain {
  @Field(() => Boolean, { description: 'Whether every hash is right.' })
  whole!: boolean;

  @Field(() => ID, { nullable: true, description: 'The first event whose content or place was changed.' })
  brokenAt?: string | null;
}

/** Checking it on demand. */
@Resolver(() => AdminQuery)
export class AuditChainResolver {
  @FieldResolver(() => AuditChain, { description: 'Computes every hash of the audit log anew.' })
  async auditChain(@Ctx() context: Context): Promise<AuditChain> {
    const brokenAt = await brokenLink(context.em);
    return { whole: brokenAt === null, brokenAt };
  }
}
