/** The RPM cap of pools: nodes ask for permits, and promise to admit nothing without. */
import 'reflect-metadata';
import { Arg, Ctx, Field, ID, InputType, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { ALONE_USES_MAX, PERMIT_TTL_MS } from '@gateway/shared/permits';
import { Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, UserError, UserFailure } from '../errors.ts';
import { acceptPromise, requestPermits } from '../pools/permit.service.ts';
import { Decimal } from '../scalars.ts';
import { ownId } from './sync.resolver.ts';

/** What became of an earlier grant. */
@InputType({ description: 'What became of an earlier grant; what was not used never will be.' })
export class NodePermitUseInput {
  @Field(() => ID, { description: 'The grant.' })
  grantId!: string;

  @Field(() => Int, { description: 'How many of its permits were used.' })
  used!: number;

  @Field(() => Int, { description: 'How long ago the last of them was used, at least, in milliseconds.' })
  agoMs!: number;
}

/** Asks for permits of one pool. */
@InputType({ description: 'Asks for permits of one pool.' })
export class NodePermitRequestInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The pool.' })
  poolId!: string;

  @Field(() => Int, { description: 'How many are wanted; 0 only gives back.' })
  want!: number;

  @Field(() => [NodePermitUseInput], {
    description: 'Grants that are over. Saying so again changes nothing.',
  })
  finished!: NodePermitUseInput[];
}

/** Permits of one pool. */
@ObjectType({ description: 'Permits of one pool.' })
export class NodePermitPayload {
  @Field(() => ID, { nullable: true, description: 'The grant; null where nothing was granted.' })
  grantId!: string | null;

  @Field(() => Int, { description: 'How many permits it holds.' })
  granted!: number;

  @Field(() => Int, {
    description: 'How long after its request was sent the node may use them, in milliseconds.',
  })
  ttlMs!: number;

  @Field(() => Int, {
    description: 'Until the next permit comes back, in milliseconds; 0 where all are free.',
  })
  resetMs!: number;

  @Field(() => Int, { description: 'What was free beside the grant.' })
  remaining!: number;

  @Field(() => [UserError], { description: 'Why nothing was judged.' })
  userErrors!: UserError[];
}

/** Requests that a node admitted without permits. */
@InputType({ description: 'Requests that a node admitted without permits while it heard nothing.' })
export class NodePermitAloneInput {
  @Field(() => ID, { description: 'The pool.' })
  poolId!: string;

  @Field(() => Int, { description: 'How many.' })
  used!: number;

  @Field(() => Int, { description: 'How long ago the last of them was admitted, at least, in milliseconds.' })
  agoMs!: number;
}

/** A promise to admit nothing without permits for a while. */
@InputType({ description: 'Promises to admit nothing to any pool without permits for a while.' })
export class NodePermitPromiseInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => Decimal, {
    nullable: true,
    description: 'The clock of the last answer that the node heard. Null promises nothing.',
  })
  heard?: string | null;

  @Field(() => Int, { description: 'How many nodes there are in the configuration that it serves.' })
  nodes!: number;

  @Field(() => Int, { description: 'Its own place among them, sorted by id, from 0; -1 where it has none.' })
  place!: number;

  @Field(() => [NodePermitAloneInput], {
    nullable: true,
    description: 'What it admitted without permits in the last minute; null where it does not know.',
  })
  alone?: NodePermitAloneInput[] | null;

  @Field(() => Boolean, { description: 'It ends in good order and admits nothing before it promises again.' })
  leaving!: boolean;
}

/** Whether a promise holds. */
@ObjectType({ description: 'Whether a promise holds.' })
export class NodePermitPromisePayload {
  @Field(() => Decimal, { nullable: true, description: 'What the next promise gives back as `heard`.' })
  clock!: string | null;

  @Field(() => Boolean, { description: 'False where it promised nothing, or was heard too late.' })
  accepted!: boolean;

  @Field(() => Boolean, {
    description:
      'Whether the node may act by its place when it hears nothing: the shares of all leave it room.',
  })
  hasRoom!: boolean;

  @Field(() => [UserError], { description: 'Why it was not judged.' })
  userErrors!: UserError[];
}

/** A node speaks for itself alone. */
@Resolver()
export class PermitResolver {
  @Authorized('NODE')
  @Mutation(() => NodePermitPayload, {
    description: "Permits of a pool's RPM cap, valid for a short time. Never more than the cap in any 60 s.",
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
    description: 'Promises to admit nothing without permits for a while, so that others may have the share.',
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
        throw new UserFailure('INVALID', 'A place counts from 0, or is -1; the list of uses is limited.');
      const promise = { nodeId, heard, place: { nodes, index }, alone, leaving };
      const { clock, ...verdict } = await acceptPromise(context.em, promise);
      return { ...verdict, clock: String(clock) };
    });
  }
}

function clockIn(heard: string | null): number | null {
  if (heard === null) return null;
  const clock = Number(heard);
  if (!Number.isSafeInteger(clock)) throw new UserFailure('INVALID', 'This is no clock of ours.', 'heard');
  return clock;
}
