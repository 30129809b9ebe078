/** GraphQL types of registration, heartbeats and the configuration stream of nodes. */
import 'reflect-metadata';
import { ArgsType, createUnionType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { ConfigKind, ConfigRecord } from '@gateway/shared/records';
import { describeEnum } from '../graphql/enums.ts';
import { AnyJson, DateTime, Decimal } from '../graphql/scalars.ts';
import { NodeCredentialInput, NodeRouteInput, NodeUpstreamInput } from '../upstreams/health.type.ts';

const ConfigKindEnum = describeEnum<ConfigKind>('ConfigKind', 'Kind of a configuration entry of nodes.', {
  API_KEY: 'An API key, by its digest.',
  MODEL: 'A model with its prices.',
  PROVIDER: 'An upstream.',
  CREDENTIAL: 'A credential of an upstream, sealed for the node.',
  ROUTE: 'Ties a model to an upstream.',
  POOL: 'A dedicated pool.',
  ACCOUNT: 'Whether a wallet may spend.',
  SETTINGS: 'Settings of the whole gateway.',
});

/** Registration of a starting process. */
@InputType({ description: 'Registration of a starting process as a node.' })
export class NodeRegisterInput {
  @Field(() => String, { description: 'Its configured name; the token identifies the node.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Region in which it runs.' })
  region?: string | null;

  @Field(() => String, { description: 'Version of its software.' })
  version!: string;

  @Field(() => String, {
    description: 'X25519 public key that seals CREDENTIAL entries: SPKI in DER form, as base64url.',
  })
  publicKey!: string;

  @Field(() => ID, { description: 'The journal to which it writes charges; new after the loss of a disk.' })
  journalId!: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Number of this start on the journal, counted from 1; null from earlier releases.',
  })
  start?: number | null;

  @Field(() => ID, { nullable: true, description: 'Unique id of the process; null from earlier releases.' })
  instanceId?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'How long it serves with a configuration that nobody confirms, in seconds; null, from earlier ' +
      'releases, means 24 hours.',
  })
  maxConfigAgeSeconds?: number | null;

  @Field(() => Boolean, {
    nullable: true,
    description:
      'False for a process that serves no requests and only settles the journal of a worker that the ' +
      'node no longer has; null means true.',
  })
  serves?: boolean | null;
}

/** Acknowledgement or refusal of a revision. */
@InputType({ description: 'Acknowledges that a revision was applied, or reports why it was refused.' })
export class NodeConfigAckInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => ID, { nullable: true, description: 'The process; null from earlier releases.' })
  instanceId?: string | null;

  @Field(() => Int, { description: 'The revision.' })
  revision!: number;

  @Field(() => String, { description: 'Checksum over the live entries that the node has.' })
  checksum!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Why the revision was refused; the node keeps serving the earlier one.',
  })
  error?: string | null;
}

/** Last use of the old secret of a rotated key on the node. */
@InputType({ description: 'Last use of the old secret of a rotated key on the node.' })
export class NodeOldSecretInput {
  @Field(() => ID, { description: 'The key.' })
  keyId!: string;

  @Field(() => Int, { description: 'Time since that use, in milliseconds.' })
  usedMsAgo!: number;
}

/** Heartbeat of a node. */
@InputType({ description: 'Heartbeat of a node with its measurements.' })
export class NodeHeartbeatInput {
  @Field(() => ID, { description: 'The calling node.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The journal whose leases this confirms.' })
  journalId!: string;

  @Field(() => ID, { nullable: true, description: 'The process, as it registered.' })
  instanceId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether all charges that earlier processes left in the journal are settled.',
  })
  formerSettled?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the process stops now, so that another one may register at once.',
  })
  leaving?: boolean | null;

  @Field(() => Int, { description: 'The revision that the node serves.' })
  appliedRevision!: number;

  @Field(() => Decimal, { description: 'Requests per second.' })
  rps!: string;

  @Field(() => Int, { description: 'Requests in progress.' })
  inflight!: number;

  @Field(() => Int, { description: '99th percentile of the event loop delay, in milliseconds.' })
  eventLoopP99Ms!: number;

  @Field(() => Int, { description: 'Finished requests that are not settled yet.' })
  usageBacklog!: number;

  @Field(() => [NodeUpstreamInput], {
    nullable: true,
    description: 'Upstreams with recent attempts or an open circuit; at most 200 are stored.',
  })
  upstreams?: NodeUpstreamInput[] | null;

  @Field(() => [NodeCredentialInput], {
    nullable: true,
    description: 'Recently used credentials; at most 500 are stored.',
  })
  credentials?: NodeCredentialInput[] | null;

  @Field(() => [NodeRouteInput], {
    nullable: true,
    description: 'Routes that the node leaves alone after failures; at most 500 are stored.',
  })
  routes?: NodeRouteInput[] | null;

  @Field(() => [NodeOldSecretInput], {
    nullable: true,
    description: 'Rotated keys whose old secret was used recently; at most 500 are stored.',
  })
  oldSecrets?: NodeOldSecretInput[] | null;
}

/** One entry of the configuration. Uses simple resolvers because a snapshot may have 100,000 entries. */
@ObjectType({ simpleResolvers: true, description: 'One entry of the configuration.' })
export class ConfigEntry {
  @Field(() => ConfigKindEnum, { description: 'Kind of the entry.' })
  kind!: ConfigKind;

  @Field(() => String, { description: 'Unique within its kind.' })
  key!: string;

  @Field(() => Int, { description: 'The revision that last changed the entry.' })
  revision!: number;

  @Field(() => AnyJson, {
    description: 'The record, typed per kind. Keys are digests; credentials are sealed for the node.',
  })
  payload!: ConfigRecord;
}

/** Identifies an entry of the configuration. */
@ObjectType({ simpleResolvers: true, description: 'Identifies an entry of the configuration.' })
export class ConfigKey {
  @Field(() => ConfigKindEnum, { description: 'Kind of the entry.' })
  kind!: ConfigKind;

  @Field(() => String, { description: 'Unique within its kind.' })
  key!: string;
}

/** The arguments of the configuration stream. */
@ArgsType()
export class ConfigStreamArguments {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => Int, {
    nullable: true,
    description: 'The revision that the node has; without it the stream begins with a snapshot.',
  })
  fromRevision?: number | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the node reads `packed` of snapshots.' })
  packed?: boolean | null;
}

/** One chunk of the whole configuration. */
@ObjectType({ description: 'One chunk of the whole configuration.' })
export class ConfigSnapshot {
  @Field(() => Int, { description: 'The revision of all chunks together.' })
  revision!: number;

  @Field(() => String, { description: 'Checksum over the entries of all chunks.' })
  checksum!: string;

  @Field(() => Int, { description: 'Number of this chunk, from 0.' })
  chunk!: number;

  @Field(() => Int, { description: 'Number of chunks.' })
  chunks!: number;

  @Field(() => [ConfigEntry], { description: 'At most 2,000 entries; empty if `packed` has them.' })
  entries!: ConfigEntry[];

  @Field(() => String, {
    nullable: true,
    description: 'The entries as JSON, compressed with gzip, in base64; null if `entries` has them.',
  })
  packed?: string | null;
}

/** Changes from one revision to another. */
@ObjectType({ description: 'Changes from one revision to another.' })
export class ConfigDelta {
  @Field(() => Int, { description: 'The revision to which the changes apply.' })
  fromRevision!: number;

  @Field(() => Int, { description: 'The revision after the changes.' })
  revision!: number;

  @Field(() => String, { description: 'Checksum over all live entries after the changes.' })
  checksum!: string;

  @Field(() => [ConfigEntry], { description: 'New and changed entries.' })
  upserts!: ConfigEntry[];

  @Field(() => [ConfigKey], { description: 'Removed entries.' })
  removals!: ConfigKey[];
}

/** Confirms every five seconds that a revision is the newest. */
@ObjectType({ description: 'Confirms every five seconds that a revision is the newest.' })
export class ConfigHeartbeat {
  @Field(() => Int, { description: 'The newest revision.' })
  revision!: number;

  @Field(() => DateTime, { description: 'Time of the confirmation.' })
  at!: string;
}

/** Asks the node to return a lease. */
@ObjectType({
  description:
    'Asks the node to return a lease: it stops using the lease, waits for its holds and closes it.',
})
export class LeaseRecall {
  @Field(() => ID, { description: 'The lease.' })
  leaseId!: string;
}

export const ConfigEventUnion = createUnionType({
  name: 'ConfigEvent',
  description: 'An event of the configuration stream: snapshot, delta, heartbeat or recall of a lease.',
  types: () => [ConfigSnapshot, ConfigDelta, ConfigHeartbeat, LeaseRecall] as const,
  resolveType: (event) => ('__typename' in event ? String(event.__typename) : undefined),
});
