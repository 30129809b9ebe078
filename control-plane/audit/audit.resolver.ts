/** The audit log on the API. */
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
import { AdminQuery } from '../admin-query.ts';
import {
  connectionFrom,
  connectionOf,
  decodeCursor,
  encodeCursor,
  LongPageArguments,
  pageSize,
} from '../connections.ts';
import type { Connection } from '../connections.ts';
import { Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { describeEnum } from '../enums.ts';
import { EVERYBODY } from '../events.ts';
import type { Event } from '../events.ts';
import { DateRange } from '../inputs.ts';
import { NodeInterface } from '../node-interface.ts';
import { AnyJson, DateTime } from '../scalars.ts';
import { auditEvents } from './audit.service.ts';
import type { AuditFilter, AuditRow } from './audit.service.ts';

export const ActorKind = describeEnum('ActorKind', 'What kind of actor did something.', {
  USER: 'A signed-in user.',
  ACCESS_TOKEN: 'A script with an access token.',
  SYSTEM: 'The gateway itself.',
  NODE: 'A data-plane node.',
  WEBHOOK: 'A payment provider.',
});

/** Who did something. */
@ObjectType({ description: 'Who did something.' })
export class AuditActor {
  @Field(() => ActorKind, { description: 'What kind of actor.' })
  kind!: keyof typeof ActorKind;

  @Field(() => ID, { nullable: true, description: 'Its id; null for the gateway itself.' })
  id?: string | null;

  @Field(() => String, { description: 'Its name at that time.' })
  label!: string;
}

/** One change by an administrator. */
@ObjectType({ implements: NodeInterface, description: 'One change by an administrator.' })
export class AuditEvent extends NodeInterface {
  @Field(() => DateTime, { description: 'When.' })
  at!: Date;

  @Field(() => AuditActor, { description: 'Who.' })
  actor!: AuditActor;

  @Field(() => String, { description: 'What was done, e.g. provider.update.' })
  action!: string;

  @Field(() => String, { description: 'Kind of object it was done to.' })
  targetType!: string;

  @Field(() => ID, { nullable: true, description: 'Id of that object.' })
  targetId?: string | null;

  @Field(() => AnyJson, { nullable: true, description: 'What changed, as it was. Never a secret.' })
  before?: unknown;

  @Field(() => AnyJson, { nullable: true, description: 'What changed, as it became. Never a secret.' })
  after?: unknown;

  @Field(() => String, { nullable: true, description: "Why, in the administrator's words." })
  reason?: string | null;

  @Field(() => String, { nullable: true, description: 'From which address.' })
  ip?: string | null;

  @Field(() => String, { description: 'Id of the request that did it.' })
  requestId!: string;

  @Field(() => String, { description: 'Hash of the event before.' })
  prevHash!: string;

  @Field(() => String, { description: 'SHA-256 over this event and the hash before.' })
  hash!: string;
}

export const AuditEventConnection = connectionOf('AuditEvent', AuditEvent, { countable: false });

/** Which events to show. */
@InputType('AuditFilter', { description: 'Which events to show.' })
export class AuditFilterInput {
  @Field(() => DateRange, { nullable: true, description: 'Only from this span.' })
  range?: DateRange | null;

  @Field(() => ID, { nullable: true, description: 'Only by this actor.' })
  actorId?: string | null;

  @Field(() => [String], { nullable: true, description: 'Only these actions.' })
  actions?: string[] | null;

  @Field(() => ID, { nullable: true, description: 'Only about this object.' })
  targetId?: string | null;
}

/** Which events are meant. */
@ArgsType()
export class AuditArguments {
  @Field(() => AuditFilterInput, { nullable: true, description: 'Which ones.' })
  filter?: AuditFilterInput | null;
}

/** The audit log. */
@Resolver(() => AdminQuery)
export class AuditResolver {
  @FieldResolver(() => AuditEventConnection, { description: 'Changes by administrators, newest first.' })
  async auditLog(
    @Ctx() context: Context,
    @Args(() => LongPageArguments) page: LongPageArguments,
    @Args(() => AuditArguments) { filter }: AuditArguments,
  ): Promise<Connection<AuditEvent>> {
    const first = pageSize(page.first);
    const before = decodeCursor(page.after, 1)?.[0]?.toString();
    const rows = await auditEvents(context.em, conditionsOf(filter), { before, limit: first + 1 });
    return connectionFrom(rows, {
      first,
      after: page.after,
      totalCount: null,
      cursor: (row) => encodeCursor([row.seq]),
      node: eventOf,
    });
  }

  @Authorized('ADMIN')
  @Subscription(() => AuditEvent, {
    topics: 'adminAuditAdded',
    topicId: () => EVERYBODY,
    filter: async ({ payload, context, args }: { payload: Event; context: Context; args: AuditArguments }) =>
      !args.filter || (await newEvent(context, payload, args.filter)) !== undefined,
    description: 'Each change by an administrator as it happens.',
  })
  async adminAuditAdded(
    @Root() event: Event,
    @Ctx() context: Context,
    @Args(() => AuditArguments) { filter }: AuditArguments,
  ): Promise<AuditEvent> {
    const row = await newEvent(context, event, filter);
    if (!row) throw new Error(`The audit event ${event.id} is not there.`);
    return eventOf(row);
  }
}

function conditionsOf(filter: AuditFilterInput | null | undefined): AuditFilter {
  return {
    ...(filter?.range && { from: filter.range.from, to: filter.range.to }),
    ...(filter?.actorId && { actorId: filter.actorId }),
    ...(filter?.actions && { actions: filter.actions }),
    ...(filter?.targetId && { targetId: filter.targetId }),
  };
}

/** A new event, if it meets the filter, as the log decides it. */
async function newEvent(
  { em }: Context,
  { id }: Event,
  filter: AuditFilterInput | null | undefined,
): Promise<AuditRow | undefined> {
  return (await auditEvents(em, { ...conditionsOf(filter), id }, { limit: 1 }))[0];
}

/** An event as the API shows it. */
export function eventOf(row: AuditRow): AuditEvent {
  return { ...row, actor: { kind: row.actorKind, id: row.actorId, label: row.actorLabel } };
}
