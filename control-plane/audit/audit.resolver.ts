/** The audit log in the API. */
import 'reflect-metadata';
import {
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  ObjectType,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import { connectionFrom, connectionOf, LongPageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { describeEnum } from '../graphql/enums.ts';
import { EVERYBODY } from '../database/events.ts';
import type { Event } from '../database/events.ts';
import { DateRange } from '../graphql/inputs.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { AnyJson, DateTime } from '../graphql/scalars.ts';
import { auditEvents } from './audit.service.ts';
import type { AuditFilter, AuditRow } from './audit.service.ts';

const CURSORS = cursorsOf('audit', 'BIGINT');

const ActorKind = describeEnum('ActorKind', 'Kind of an actor.', {
  USER: 'A signed-in user.',
  ACCESS_TOKEN: 'A script with an access token.',
  SYSTEM: 'The gateway itself.',
  NODE: 'A data-plane node.',
  WEBHOOK: 'A payment provider.',
});

/** The actor of an audit event. */
@ObjectType({ description: 'The actor of an audit event.' })
export class AuditActor {
  @Field(() => ActorKind, { description: 'Kind of the actor.' })
  kind!: keyof typeof ActorKind;

  @Field(() => ID, { nullable: true, description: 'Id of the actor; null for the gateway itself.' })
  id?: string | null;

  @Field(() => String, { description: 'Name of the actor at that time.' })
  label!: string;
}

/** One audited change. */
@ObjectType({ implements: GlobalObject, description: 'One audited change.' })
export class AuditEvent extends GlobalObject {
  @Field(() => DateTime, { description: 'Time of the change.' })
  at!: Date;

  @Field(() => AuditActor, { description: 'Who made the change.' })
  actor!: AuditActor;

  @Field(() => String, { description: 'The action, e.g. provider.update.' })
  action!: string;

  @Field(() => String, { description: 'Type of the changed object.' })
  targetType!: string;

  @Field(() => ID, { nullable: true, description: 'Id of the changed object.' })
  targetId?: string | null;

  @Field(() => AnyJson, { nullable: true, description: 'The changed values before. Never a secret.' })
  before?: unknown;

  @Field(() => AnyJson, { nullable: true, description: 'The changed values afterwards. Never a secret.' })
  after?: unknown;

  @Field(() => String, { nullable: true, description: 'Reason that the administrator gave.' })
  reason?: string | null;

  @Field(() => String, { nullable: true, description: 'IP address of the caller.' })
  ip?: string | null;

  @Field(() => String, { description: 'Id of the request that made the change.' })
  requestId!: string;

  @Field(() => String, { description: 'Hash of the event before.' })
  prevHash!: string;

  @Field(() => String, { description: 'SHA-256 over this event and the hash of the event before.' })
  hash!: string;
}

const AuditEventConnection = connectionOf('AuditEvent', AuditEvent, { countable: false });

/** Filter of audit events; all conditions must hold. */
@InputType('AuditFilter', { description: 'Filter of audit events; all conditions must hold.' })
export class AuditFilterInput {
  @Field(() => DateRange, { nullable: true, description: 'Only events in this range.' })
  range?: DateRange | null;

  @Field(() => ID, { nullable: true, description: 'Only events of this actor.' })
  actorId?: string | null;

  @Field(() => [ActorKind], { nullable: true, description: 'Only events of actors of these kinds.' })
  actorKinds?: (keyof typeof ActorKind)[] | null;

  @Field(() => [String], { nullable: true, description: 'Only these actions.' })
  actions?: string[] | null;

  @Field(() => ID, { nullable: true, description: 'Only events about this object.' })
  targetId?: string | null;
}

/** Arguments that select audit events. */
@ArgsType()
export class AuditArguments {
  @Field(() => AuditFilterInput, { nullable: true, description: 'Filter of the events.' })
  filter?: AuditFilterInput | null;
}

/** Resolves the audit log. */
@Resolver(() => AdminQuery)
export class AuditResolver {
  @FieldResolver(() => AuditEventConnection, { description: 'Audited changes, newest first.' })
  async auditLog(
    @Ctx() context: Context,
    @Args(() => LongPageArguments) page: LongPageArguments,
    @Args(() => AuditArguments) { filter }: AuditArguments,
  ): Promise<Connection<AuditEvent>> {
    const position = positionOf(page, CURSORS);
    const rows = await auditEvents(context.em, conditionsOf(filter), position);
    return connectionFrom(rows, {
      position,
      totalCount: null,
      cursor: (row) => CURSORS.encode([row.seq]),
      node: eventOf,
    });
  }

  @Authorized('ADMIN')
  @Subscription(() => AuditEvent, {
    topics: 'adminAuditAdded',
    topicId: () => EVERYBODY,
    filter: async ({ payload, context, args }: { payload: Event; context: Context; args: AuditArguments }) =>
      !args.filter || (await newEvent(context, payload, args.filter)) !== undefined,
    description: 'Each audited change as it happens.',
  })
  async adminAuditAdded(
    @Root() event: Event,
    @Ctx() context: Context,
    @Args(() => AuditArguments) { filter }: AuditArguments,
  ): Promise<AuditEvent> {
    const row = await newEvent(context, event, filter);
    if (!row) throw new Error(`The audit event ${event.id} is missing or does not match the filter.`);
    return eventOf(row);
  }
}

function conditionsOf(filter: AuditFilterInput | null | undefined): AuditFilter {
  return {
    ...(filter?.range && { from: filter.range.from, to: filter.range.to }),
    ...(filter?.actorId && { actorId: filter.actorId }),
    ...(filter?.actorKinds && { actorKinds: filter.actorKinds }),
    ...(filter?.actions && { actions: filter.actions }),
    ...(filter?.targetId && { targetId: filter.targetId }),
  };
}

/** A new event; undefined if it does not match the filter. */
async function newEvent(
  { em }: Context,
  { id }: Event,
  filter: AuditFilterInput | null | undefined,
): Promise<AuditRow | undefined> {
  return (await auditEvents(em, { ...conditionsOf(filter), id }, { limit: 1 }))[0];
}

/** A row of the audit log in the shape of the API. */
export function eventOf(row: AuditRow): AuditEvent {
  return { ...row, actor: { kind: row.actorKind, id: row.actorId, label: row.actorLabel } };
}
