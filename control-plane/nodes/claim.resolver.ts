/** Idempotency-Keys on the API: nodes claim them for requests, and free those of requests that failed. */
import 'reflect-metadata';
import { Arg, Ctx, Field, ID, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { describeEnum } from '../enums.ts';
import { outcome, UserError } from '../errors.ts';
import { AckPayload } from '../inputs.ts';
import { Money } from '../scalars.ts';
import { claimRequest, releaseClaim } from '../usage/claim.service.ts';
import type { ClaimAnswer } from '../usage/claim.service.ts';
import { ownId } from './sync.resolver.ts';

const RequestClaimState = describeEnum<ClaimAnswer['state']>(
  'RequestClaimState',
  'Who has an Idempotency-Key.',
  {
    CLAIMED: 'The request that asked.',
    IN_FLIGHT: 'Another request that is still being answered.',
    DONE: 'Another request that was answered and charged.',
    MISMATCH: 'Another request with another body.',
  },
);

/** Claims an Idempotency-Key for one request. */
@InputType({ description: 'Claims an Idempotency-Key for one request.' })
export class NodeRequestClaimInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => ID, { nullable: true, description: 'The process, as it registered.' })
  instanceId?: string | null;

  @Field(() => ID, { description: 'The wallet whose key asks: keys of different wallets never meet.' })
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

/** Who has the key. */
@ObjectType({ description: 'Who has the key.' })
export class NodeRequestClaimPayload {
  @Field(() => RequestClaimState, { nullable: true, description: 'Null where the claim was not judged.' })
  state!: ClaimAnswer['state'] | null;

  @Field(() => String, { nullable: true, description: 'The request that has the key.' })
  requestId!: string | null;

  @Field(() => Money, { nullable: true, description: 'What that request cost, once it is known.' })
  cost!: bigint | null;

  @Field(() => [UserError], { description: 'Why the claim was not judged.' })
  userErrors!: UserError[];
}

/** Frees the key of a request that failed. */
@InputType({ description: 'Frees the key of a request that failed.' })
export class NodeRequestReleaseInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => String, { description: 'The x-request-id of the request.' })
  requestId!: string;
}

/** A node claims for requests of its own. */
@Resolver()
export class ClaimResolver {
  @Authorized('NODE')
  @Mutation(() => NodeRequestClaimPayload, {
    description: 'Claims an Idempotency-Key; of many requests at once, exactly one gets it.',
  })
  nodeRequestClaim(
    @Ctx() context: Context,
    @Arg('input', () => NodeRequestClaimInput, { description: 'The claim.' }) input: NodeRequestClaimInput,
  ): Promise<NodeRequestClaimPayload> {
    const nodeId = ownId(context, input.nodeId);
    return outcome({ state: null, requestId: null, cost: null }, () =>
      claimRequest(context.em, { ...input, nodeId, instanceId: input.instanceId ?? null }),
    );
  }

  @Authorized('NODE')
  @Mutation(() => AckPayload, {
    description: 'Frees the Idempotency-Key of a request that failed; harmless where it was charged.',
  })
  nodeRequestRelease(
    @Ctx() context: Context,
    @Arg('input', () => NodeRequestReleaseInput, { description: 'The request.' })
    input: NodeRequestReleaseInput,
  ): Promise<AckPayload> {
    const nodeId = ownId(context, input.nodeId);
    return outcome({ ok: false }, async () => {
      await releaseClaim(context.em, nodeId, input.requestId);
      return { ok: true };
    });
  }
}
