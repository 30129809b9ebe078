/** What nodes send and receive: registration, heartbeats, configuration. */
import 'reflect-metadata';
import { createUnionType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { ConfigKind, ConfigRecord } from '@gateway/shared/records';
import { describeEnum } from '../enums.ts';
import { AnyJson, DateTime, Decimal } from '../scalars.ts';
import { NodeCredentialInput, NodeUpstreamInput } from '../upstreams/health.type.ts';

export const ConfigKindEnum = describeEnum<ConfigKind>(
  'ConfigKind',
  'Kinds of entries in the configuration of nodes.',
  {
    API_KEY: 'A key by its digest.',
    MODEL: 'A model with its prices.',
    PROVIDER: 'An upstream.',
    CREDENTIAL: 'A secret of an upstream, sealed for the node.',
    ROUTE: 'A way from a model to an upstream.',
    POOL: 'A dedicated pool.',
    ACCOUNT: 'Whether a wallet may spend.',
    SETTINGS: 'What holds for the whole gateway.',
  },
);

/** What a starting node says of itself. */
@InputType({ description: 'What a starting node says of itself.' })
export class NodeRegisterInput {
  @Field(() => String, { description: 'Its name; the node itself is known by its token.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Where it runs.' })
  region?: string | null;

  @Field(() => String, { description: 'Version of its software.' })
  version!: string;

  @Field(() => String, {
    description: 'X25519 key that seals CREDENTIAL entries: SPKI in DER form, as base64url.',
  })
  publicKey!: string;

  @Field(() => ID, { description: 'The journal it writes charges to; a lost disk means a new one.' })
  journalId!: string;

  @Field(() => Int, {
    nullable: true,
    description: 'Numbers the starts of processes on the journal, upwards; null from earlier releases.',
  })
  start?: number | null;

  @Field(() => ID, { nullable: true, description: 'Of this process alone; null from earlier releases.' })
  instanceId?: string | null;
}

/** That a revision was applied or refused. */
@InputType({ description: 'That a revision was applied or refused.' })
export class NodeConfigAckInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => ID, { nullable: true, description: 'The process; null from earlier releases.' })
  instanceId?: string | null;

  @Field(() => Int, { description: 'The revision.' })
  revision!: number;

  @Field(() => String, { description: 'Checksum over the live entries that the node holds.' })
  checksum!: string;

  @Field(() => String, { nullable: true, description: 'Why it was refused; the earlier revision serves on.' })
  error?: string | null;
}

/** When the old secret of a key was used last on the node. */
@InputType({ description: 'When the old secret of a rotated key was used last on the node.' })
export class NodeOldSecretInput {
  @Field(() => ID, { description: 'The key.' })
  keyId!: string;

  @Field(() => Int, { description: 'How long ago that was, in ms.' })
  usedMsAgo!: number;
}

/** That a node lives, and how it does. */
@InputType({ description: 'That a node lives, and how it does.' })
export class NodeHeartbeatInput {
  @Field(() => ID, { description: 'The node itself.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The journal whose leases this confirms.' })
  journalId!: string;

  @Field(() => ID, { nullable: true, description: 'The process, as it registered.' })
  instanceId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether all is settled that earlier processes left in the journal.',
  })
  formerSettled?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether this is the last word of a process: another one may be the node at once.',
  })
  leaving?: boolean | null;

  @Field(() => Int, { description: 'The revision it serves.' })
  appliedRevision!: number;

  @Field(() => Decimal, { description: 'Requests per second.' })
  rps!: string;

  @Field(() => Int, { description: 'Requests being served.' })
  inflight!: number;

  @Field(() => Int, { description: '99th percentile of the delay of the event loop, in milliseconds.' })
  eventLoopP99Ms!: number;

  @Field(() => Int, { description: 'Finished requests that are not settled yet.' })
  usageBacklog!: number;

  @Field(() => [NodeUpstreamInput], {
    nullable: true,
    description: 'Upstreams that were asked lately or are left alone; at most 200 count.',
  })
  upstreams?: NodeUpstreamInput[] | null;

  @Field(() => [NodeCredentialInput], {
    nullable: true,
    description: 'Credentials that were used lately; at most 500 count.',
  })
  credentials?: NodeCredentialInput[] | null;

  @Field(() => [NodeOldSecretInput], {
    nullable: true,
    description: 'Keys whose old secret was used lately after a rotation; at most 500 count.',
  })
  oldSecrets?: NodeOldSecretInput[] | null;
}

/** One entry of the configuration. A snapshot has 100,000: nothing is put between fields and graphql. */
@ObjectType({ simpleResolvers: true, description: 'One entry of the configuration.' })
export class ConfigEntry {
  @Field(() => ConfigKindEnum, { description: 'Its kind.' })
  kind!: ConfigKind;

  @Field(() => String, { description: 'Unique within its kind.' })
  key!: string;

  @Field(() => Int, { description: 'The revision that wrote it.' })
  revision!: number;

  @Field(() => AnyJson, {
    description: 'The record, typed per kind. Keys come as digests, credentials sealed for the node.',
  })
  payload!: ConfigRecord;
}

/** Names an entry of the configuration. */
@ObjectType({ simpleResolvers: true, description: 'Names an entry of the configuration.' })
export class ConfigKey {
  @Field(() => ConfigKindEnum, { description: 'Its kind.' })
  kind!: ConfigKind;

  @Field(() => String, { description: 'Unique within its kind.' })
  key!: string;
}

/** A part of the whole configuration. */
@ObjectType({ description: 'A part of the whole configuration.' })
export class ConfigSnapshot {
  @Field(() => Int, { description: 'The revision that all parts together are.' })
  revision!: number;

  @Field(() => String, { description: 'Checksum over all parts.' })
  checksum!: string;

  @Field(() => Int, { description: 'Number of this part, from 0.' })
  chunk!: number;

  @Field(() => Int, { description: 'How many parts there are.' })
  chunks!: number;

  @Field(() => [ConfigEntry], { description: 'At most 2,000 entries.' })
  entries!: ConfigEntry[];
}

/** What changed from one revision to another. */
@ObjectType({ description: 'What changed from one revision to another.' })
export class ConfigDelta {
  @Field(() => Int, { description: 'The revision it applies to.' })
  fromRevision!: number;

  @Field(() => Int, { description: 'The revision it leads to.' })
  revision!: number;

  @Field(() => String, { description: 'Checksum over all live entries afterwards.' })
  checksum!: string;

  @Field(() => [ConfigEntry], { description: 'New and changed entries.' })
  upserts!: ConfigEntry[];

  @Field(() => [ConfigKey], { description: 'Entries that are gone.' })
  removals!: ConfigKey[];
}

/** Confirms every five seconds that a revision is the newest. */
@ObjectType({ description: 'Confirms every five seconds that a revision is the newest.' })
export class ConfigHeartbeat {
  @Field(() => Int, { description: 'The newest revision.' })
  revision!: number;

  @Field(() => DateTime, { description: 'When.' })
  at!: string;
}

/** Calls a lease back. */
@ObjectType({ description: 'The node stops using the lease, waits for its holds and closes it.' })
export class LeaseRecall {
  @Field(() => ID, { description: 'The lease.' })
  leaseId!: string;
}

export const ConfigEventUnion = createUnionType({
  name: 'ConfigEvent',
  description:
    'What a node hears: the whole configuration, then changes, confirmations, and calls for leases.',
  types: () => [ConfigSnapshot, ConfigDelta, ConfigHeartbeat, LeaseRecall] as const,
  resolveType: (event) => ('__typename' in event ? String(event.__typename) : undefined),
});
