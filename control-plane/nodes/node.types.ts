/** GraphQL types of nodes for administrators. */
import 'reflect-metadata';
import { Field, Int, InputType, ObjectType } from 'type-graphql';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Decimal } from '../graphql/scalars.ts';
import type { NodeState } from './node.view.ts';

const NodeStateEnum = describeEnum('NodeState', 'State of a data-plane node.', {
  JOINING: 'Has a token and has never contacted the control plane.',
  IN_SYNC: 'Serves the newest configuration.',
  LAGGING: 'Is online and serves an older configuration.',
  OFFLINE: 'Has not contacted the control plane for 20 seconds; it may still serve.',
  DRAINING: 'Finishes its requests and accepts no new ones.',
});

/** A node of the data plane, with all its workers. */
@ObjectType({ implements: GlobalObject, description: 'A node of the data plane, with all its workers.' })
export class DataPlaneNode extends GlobalObject {
  @Field(() => String, { description: 'The name that an administrator gave the node.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Region that the node reports.' })
  region!: string | null;

  @Field(() => String, { description: 'Version of its software; empty before its first start.' })
  version!: string;

  @Field(() => NodeStateEnum, { description: 'State of the node.' })
  state!: NodeState;

  @Field(() => Boolean, {
    description: 'Whether the node is offline after it was drained. Health ignores it until it starts again.',
  })
  retired!: boolean;

  @Field(() => Int, { description: 'Number of its worker processes with contact in the last 20 seconds.' })
  workers!: number;

  @Field(() => Int, {
    description: 'The configuration revision that the node serves: that of the worker with the oldest one.',
  })
  appliedRevision!: number;

  @Field(() => Int, { description: 'The newest configuration revision.' })
  latestRevision!: number;

  @Field(() => Int, {
    description: 'Time since the node last applied a revision, in milliseconds; 0 in sync.',
  })
  lagMs!: number;

  @Field(() => DateTime, { nullable: true, description: 'When the node last contacted the control plane.' })
  lastSeenAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why the node refused the newest configuration; null if it did not.',
  })
  lastAckError!: string | null;

  @Field(() => Decimal, { description: 'Requests per second in the last report.' })
  rps!: string;

  @Field(() => Int, { description: 'Requests in progress in the last report.' })
  inflight!: number;

  @Field(() => Int, { description: '99th percentile of its event loop delay, in milliseconds.' })
  eventLoopP99Ms!: number;

  @Field(() => Int, { description: 'Finished requests that are not settled yet.' })
  usageBacklog!: number;

  @Field(() => DateTime, {
    description: 'When the node last started; before its first start, when it was created.',
  })
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
    description: 'The token, shown only here. Valid for this node until it is rotated.',
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
