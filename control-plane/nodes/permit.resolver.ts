/** Permits of pools in the API: nodes request permits, and promise to admit no requests without them. */
import 'reflect-metadata';
import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { ALONE_USES_MAX, PERMIT_TTL_MS } from '@gateway/shared/permits';
import { Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserError, UserFailure } from '../graphql/errors.ts';
import { acceptPromise, requestPermits } from '../pools/permit.service.ts';
import { Decimal } from '../graphql/scalars.ts';
import { ownId } from './sync.resolver.ts';

/** Use of an earlier grant. */
@InputType({ description: 'Final use of an earlier grant; its unused permits are returned.' })
export class NodePermitUseInput {
  @Field(() => ID, { description: 'The grant.' })
  grantId!: string;

  @Field(() => Int, { description: 'Number of its permits that were used.' })
  used!: number;

  @Field(() => Int, { description: 'Minimum time since the last of them was used, in milliseconds.' })
  agoMs!: number;
}

/** Requests permits of one pool. */
@InputType({ description: 'Requests permits of one pool.' })
export class NodePermitRequestInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The pool.' })
  poolId!: string;

  @Field(() => Int, { description: 'Number of permits requested; 0 only returns finished grants.' })
  want!: number;

  @Field(() => [NodePermitUseInput], {
    description: 'Grants that the node no longer uses. Repeating one changes nothing.',
  })
  finished!: NodePermitUseInput[];
}

/** Permits of one pool. */
@ObjectType({ description: 'Permits of one pool.' })
export class NodePermitPayload {
  @Field(() => ID, { nullable: true, description: 'The grant; null if nothing was granted.' })
  grantId!: string | null;

  @Field(() => Int, { description: 'Number of permits granted.' })
  granted!: number;

  @Field(() => Int, {
    description: 'How long the permits are valid, in milliseconds from the moment the node sent its request.',
  })
  ttlMs!: number;

  @Field(() => Int, {
    description: 'Time until the next permit becomes free, in milliseconds; 0 if all are free.',
  })
  resetMs!: number;

  @Field(() => Int, { description: 'Permits still free after this grant.' })
  remaining!: number;

  @Field(() => [UserError], { description: 'Why the request was refused.' })
  userErrors!: UserError[];
}

/** Requests that a node admitted without permits. */
@InputType({
  description: 'Requests that a node admitted without permits while it could not reach the control plane.',
})
export class NodePermitAloneInput {
  @Field(() => ID, { description: 'The pool.' })
  poolId!: string;

  @Field(() => Int, { description: 'Number of requests.' })
  used!: number;

  @Field(() => Int, { description: 'Minimum time since the last of them was admitted, in milliseconds.' })
  agoMs!: number;
}

/** A promise to admit nothing without permits for a short time. */
@InputType({ description: 'A promise to admit no request of any pool without permits for the next seconds.' })
export class NodePermitPromiseInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => Decimal, {
    nullable: true,
    description: '`clock` of the last answer that the node received. Null only asks for the clock.',
  })
  heard?: string | null;

  @Field(() => Int, { description: 'Number of nodes in the configuration that the node serves.' })
  nodes!: number;

  @Field(() => Int, {
    description: 'Its index among these nodes, sorted by id, from 0; -1 if it is not listed.',
  })
  place!: number;

  @Field(() => [NodePermitAloneInput], {
    nullable: true,
    description: 'Requests that it admitted without permits in the last minute; null if unknown.',
  })
  alone?: NodePermitAloneInput[] | null;

  @Field(() => Boolean, { description: 'Whether the node stops, and admits nothing until its next promise.' })
  leaving!: boolean;
}

/** Answer to a promise. */
@ObjectType({ description: 'Answer to a promise.' })
export class NodePermitPromisePayload {
  @Field(() => Decimal, { nullable: true, description: 'Time to send as `heard` in the next promise.' })
  clock!: string | null;

  @Field(() => Boolean, {
    description: 'Whether the promise counts; false without `heard` or if it came too late.',
  })
  accepted!: boolean;

  @Field(() => Boolean, {
    description:
      'Whether the node may admit its share without permits when it cannot reach the control plane.',
  })
  hasRoom!: boolean;

  @Field(() => [UserError], { description: 'Why the promise was refused.' })
  userErrors!: UserError[];
}

/** Requests and promises. A node may act only for itself. */
@Resolver()
export class PermitResolver {
  @Authorized('NODE')
  @Mutation(() => NodePermitPayload, {
    description:
      "Requests short-lived permits of a pool's RPM cap. Permits never exceed the cap in any 60 s.",
  })
  nodePermitRequest(
    @Ctx() context: Context,
    @Arg('input', () => NodePermitRequestInput, { description: 'The request.' })
    input: NodePermitRequestInput,
  ): Promise<NodePermitPayload> {
    const nodeId = ownId(context, input.nodeId);
    const none = { grantId: null, granted: 0, ttlMs: PERMIT_TTL_MS, resetMs: 0, remaining: 0 };
    return outcome(none, () => requestPermits(context.em, { ...input, nodeId }));
  }

  @Authorized('NODE')
  @Mutation(() => NodePermitPromisePayload, {
    description:
      "Promises to admit nothing without permits for some seconds, so that others may get the node's share.",
  })
  nodePermitPromise(
    @Ctx() context: Context,
    @Arg('input', () => NodePermitPromiseInput, { description: 'The promise.' })
    input: NodePermitPromiseInput,
  ): Promise<NodePermitPromisePayload> {
    const nodeId = ownId(context, input.nodeId);
    return outcome({ clock: null, accepted: false, hasRoom: false }, async () => {
      const { nodes, place: index, leaving, alone = null } = input;
      const heard = clockIn(input.heard ?? null);
      if (nodes < 0 || index < -1 || (alone?.length ?? 0) > ALONE_USES_MAX)
        throw new UserFailure(
          'INVALID',
          `Send nodes from 0 on, place from -1 on, and at most ${ALONE_USES_MAX} entries in alone.`,
        );
      const promise = { nodeId, heard, place: { nodes, index }, alone, leaving };
      const { clock, ...verdict } = await acceptPromise(context.em, promise);
      return { ...verdict, clock: String(clock) };
    });
  }
}

function clockIn(heard: string | null): number | null {
  if (heard === null) return null;
  const clock = Number(heard);
  if (!Number.isSafeInteger(clock))
    throw new UserFailure('INVALID', 'heard is malformed. Send the clock of the last answer.', 'heard');
  return clock;
}
