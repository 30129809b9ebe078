/** Nodes as administrators see them on the API. */
import 'reflect-metadata';
import { Field, Int, InputType, ObjectType } from 'type-graphql';
import { describeEnum } from '../enums.ts';
import { UserError } from '../errors.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, Decimal } from '../scalars.ts';
import type { NodeState } from './node.service.ts';

export const NodeStateEnum = describeEnum('NodeState', 'How a data-plane node does.', {
  JOINING: 'Has a token and was never heard of.',
  IN_SYNC: 'Serves the newest configuration.',
  LAGGING: 'Is heard of, and serves an older configuration.',
  OFFLINE: 'Has not been heard of for 20 seconds; it may still serve.',
  DRAINING: 'Finishes what it has and takes nothing new.',
});

/** One process of the data plane. */
@ObjectType({ implements: NodeInterface, description: 'One process of the data plane.' })
export class DataPlaneNode extends NodeInterface {
  @Field(() => String, { description: 'The name it was made with.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Where it says it runs.' })
  region!: string | null;

  @Field(() => String, { description: 'Version of its software; empty before it first started.' })
  version!: string;

  @Field(() => NodeStateEnum, { description: 'How it does.' })
  state!: NodeState;

  @Field(() => Boolean, {
    description:
      'Whether it went away after an administrator drained it: nobody waits for it until it starts again.',
  })
  retired!: boolean;

  @Field(() => Int, { description: 'The revision of the configuration that it serves.' })
  appliedRevision!: number;

  @Field(() => Int, { description: 'The newest revision there is.' })
  latestRevision!: number;

  @Field(() => Int, {
    description: 'How long ago it last applied a revision while it is behind, in milliseconds; 0 in sync.',
  })
  lagMs!: number;

  @Field(() => DateTime, { nullable: true, description: 'When it was last heard of.' })
  lastSeenAt!: Date | null;

  @Field(() => String, { nullable: true, description: 'Why it refused the newest configuration, or null.' })
  lastAckError!: string | null;

  @Field(() => Decimal, { description: 'Requests per second, as it last reported.' })
  rps!: string;

  @Field(() => Int, { description: 'Requests it is serving, as it last reported.' })
  inflight!: number;

  @Field(() => Int, { description: '99th percentile of the delay of its event loop, in milliseconds.' })
  eventLoopP99Ms!: number;

  @Field(() => Int, { description: 'Finished requests it has not settled yet.' })
  usageBacklog!: number;

  @Field(() => DateTime, { description: 'When it last started; when it was made, before that.' })
  startedAt!: Date;
}

/** A new node. */
@InputType({ description: 'A new node.' })
export class AdminNodeCreateInput {
  @Field(() => String, { description: 'A name of 1 to 64 letters, digits, spaces, or . : - _' })
  name!: string;

  @Field(() => String, { description: 'Why, for the audit log.' })
  reason!: string;
}

/** A node and its token. */
@ObjectType({ description: 'A node and its token.' })
export class AdminNodeTokenPayload {
  @Field(() => DataPlaneNode, { nullable: true, description: 'The node.' })
  node!: DataPlaneNode | null;

  @Field(() => String, {
    nullable: true,
    description: 'Shown this once. Good for this node alone, until it is rotated.',
  })
  token!: string | null;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}

/** A node after a change. */
@ObjectType({ description: 'A node after a change.' })
export class NodePayload {
  @Field(() => DataPlaneNode, { nullable: true, description: 'The node.' })
  node!: DataPlaneNode | null;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}
