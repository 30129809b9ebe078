/** The values of the audit log's filters in the API. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Resolver } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import type { Context } from '../graphql/context.ts';
import { AuditActor } from './audit.resolver.ts';
import { recordedActions, recordedActors } from './choices.service.ts';

/** Resolves the values. */
@Resolver(() => AdminQuery)
export class AuditChoicesResolver {
  @FieldResolver(() => [String], { description: 'Actions that the audit log contains, ascending.' })
  auditActions(@Ctx() context: Context): Promise<string[]> {
    return recordedActions(context.em);
  }

  @FieldResolver(() => [AuditActor], {
    description: 'Actors that the audit log contains, those of the newest events first; at most 50.',
  })
  async auditActors(
    @Ctx() context: Context,
    @Arg('search', () => String, {
      nullable: true,
      description: 'Only actors whose name contains this text.',
    })
    search: string | null,
  ): Promise<AuditActor[]> {
    const found = await recordedActors(context.em, (search ?? '').trim());
    return found.map(({ actorKind, actorId, actorLabel }) => ({
      kind: actorKind,
      id: actorId,
      label: actorLabel,
    }));
  }
}
