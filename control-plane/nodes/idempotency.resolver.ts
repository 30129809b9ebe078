/** Idempotency-Keys in the API: nodes claim a key for a request, and release it if the request fails. */
import 'reflect-metadata';
import { Arg, Ctx, Field, ID, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { describeEnum } from '../graphql/enums.ts';
import { outcome, UserError } from '../graphql/errors.ts';
import { AckPayload } from '../graphql/inputs.ts';
import { Money } from '../graphql/scalars.ts';
import { reserveIdempotencyKey, releaseIdempotencyKey } from '../usage/idempotency.service.ts';
import type { ReservationAnswer } from '../usage/idempotency.service.ts';
import { ownId } from './sync.resolver.ts';

const RequestClaimState = describeEnum<ReservationAnswer['state']>(
  'RequestClaimState',
  'Which request an Idempotency-Key belongs to.',
  {
    CLAIMED: 'This request.',
    IN_FLIGHT: 'Another request that is still in progress.',
    DONE: 'Another request that was answered and charged.',
    MISMATCH: 'Another request with a different body.',
  },
);

/** Claims an Idempotency-Key for one request. */
@InputType({ description: 'Claims an Idempotency-Key for one request.' })
export class NodeRequestClaimInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => ID, { nullable: true, description: 'The process, as it registered.' })
  instanceId?: string | null;

  @Field(() => ID, { description: 'The wallet of the API key; each wallet has its own Idempotency-Keys.' })
  walletId!: string;

  @Field(() => String, { description: 'The path of the request.' })
  route!: string;

  @Field(() => String, { description: 'SHA-256 of the Idempotency-Key, in hex.' })
  keyDigest!: string;

  @Field(() => String, { description: 'SHA-256 of the body, in hex.' })
  fingerprint!: string;

  @Field(() => String, { description: 'The x-request-id of the request.' })
  requestId!: string;
}

/** The request that an Idempotency-Key belongs to. */
@ObjectType({ description: 'The request that an Idempotency-Key belongs to.' })
export class NodeRequestClaimPayload {
  @Field(() => RequestClaimState, { nullable: true, description: 'Null if there are user errors.' })
  state!: ReservationAnswer['state'] | null;

  @Field(() => String, { nullable: true, description: 'The x-request-id of that request.' })
  requestId!: string | null;

  @Field(() => Money, { nullable: true, description: 'Cost of that request; null until it is known.' })
  cost!: bigint | null;

  @Field(() => [UserError], { description: 'Why the claim was refused.' })
  userErrors!: UserError[];
}

/** Releases the Idempotency-Key of a request that failed. */
@InputType({ description: 'Releases the Idempotency-Key of a request that failed.' })
export class NodeRequestReleaseInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => String, { description: 'The x-request-id of the request.' })
  requestId!: string;
}

/** Claims and releases. A node may act only for its own requests. */
@Resolver()
export class IdempotencyResolver {
  @Authorized('NODE')
  @Mutation(() => NodeRequestClaimPayload, {
    description: 'Claims an Idempotency-Key; of concurrent requests exactly one gets it.',
  })
  nodeRequestClaim(
    @Ctx() context: Context,
    @Arg('input', () => NodeRequestClaimInput, { description: 'The claim.' }) input: NodeRequestClaimInput,
  ): Promise<NodeRequestClaimPayload> {
    const nodeId = ownId(context, input.nodeId);
    return outcome({ state: null, requestId: null, cost: null }, () =>
      reserveIdempotencyKey(context.em, { ...input, nodeId, instanceId: input.instanceId ?? null }),
    );
  }

  @Authorized('NODE')
  @Mutation(() => AckPayload, {
    description: 'Releases the Idempotency-Key of a request that failed; does nothing if it was charged.',
  })
  nodeRequestRelease(
    @Ctx() context: Context,
    @Arg('input', () => NodeRequestReleaseInput, { description: 'The request.' })
    input: NodeRequestReleaseInput,
  ): Promise<AckPayload> {
    const nodeId = ownId(context, input.nodeId);
    return outcome({ ok: false }, async () => {
      await releaseIdempotencyKey(context.em, nodeId, input.requestId);
      return { ok: true };
    });
  }
}
