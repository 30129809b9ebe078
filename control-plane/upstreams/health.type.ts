/** The health of upstreams on the API: figures of nodes, and words of ours for what went wrong. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { CircuitState, Fault } from '@gateway/shared/upstream-health';
import { describeEnum, HealthStatus } from '../enums.ts';
import { DateTime, Decimal } from '../scalars.ts';

export const CircuitStateEnum = describeEnum<CircuitState>('CircuitState', 'Whether nodes ask an upstream.', {
  CLOSED: 'It is asked.',
  HALF_OPEN: 'One request finds out whether it is well again.',
  OPEN: 'It is left alone for a while, after too many failures.',
});

export const UpstreamFaultEnum = describeEnum<Fault>('UpstreamFault', 'How an upstream failed.', {
  BUSY: 'It had no room, or its rate limit was reached.',
  TIMEOUT: 'It took too long.',
  REFUSED: 'It refused the credential.',
  FAILED: 'It was not reached, or answered with a failure or with nonsense.',
});

/** What a node says of an upstream, and what is shown of it. */
@InputType({ description: 'What a node says of an upstream, and what is shown of it.' })
@ObjectType({ description: 'What a node says of an upstream, and what is shown of it.' })
abstract class UpstreamCounts {
  @Field(() => CircuitStateEnum, { description: 'Whether the node asks it.' })
  circuit!: CircuitState;

  @Field(() => Int, { description: 'Requests of the last five minutes that say something about it.' })
  requests!: number;

  @Field(() => Int, { description: 'Those that it had no room for.' })
  busy!: number;

  @Field(() => Int, { description: 'Those that it took too long for.' })
  timeouts!: number;

  @Field(() => Int, { description: 'Those whose credential it refused.' })
  refused!: number;

  @Field(() => Int, { description: 'Those that failed otherwise.' })
  failed!: number;
}

/** How an upstream does on one node. */
@ObjectType({ description: 'How an upstream does on one node.' })
export class ProviderNodeHealth extends UpstreamCounts {
  @Field(() => String, { description: 'The name of the node.' })
  nodeName!: string;

  @Field(() => DateTime, { description: 'When the node reported it.' })
  asOf!: Date;

  @Field(() => Int, { nullable: true, description: 'Half of its answers began within this time.' })
  p50LatencyMs?: number | null;

  @Field(() => Int, { nullable: true, description: 'Nineteen of twenty answers began within it.' })
  p95LatencyMs?: number | null;
}

/** How an upstream does. */
@ObjectType({
  description:
    'How an upstream does, from the nodes that were heard of in the last 20 seconds, and its last probe.',
})
export class ProviderHealth {
  @Field(() => HealthStatus, { description: 'In one word; UNKNOWN where no node asked it in five minutes.' })
  status!: keyof typeof HealthStatus;

  @Field(() => CircuitStateEnum, { description: 'The worst of all nodes.' })
  circuit!: CircuitState;

  @Field(() => Int, { description: 'Requests of the last five minutes that say something about it.' })
  requests5m!: number;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Share of these that failed, 0 to 1; null where there were none.',
  })
  errorRate5m?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Nineteen of twenty answers began within this time, on the slowest node.',
  })
  p95LatencyMs?: number | null;

  @Field(() => DateTime, { nullable: true, description: 'When a node reported it last; null for UNKNOWN.' })
  asOf?: Date | null;

  @Field(() => [ProviderNodeHealth], { description: 'Node by node, by name.' })
  nodes!: ProviderNodeHealth[];

  @Field(() => DateTime, { nullable: true, description: 'When an administrator probed it last.' })
  lastProbeAt?: Date | null;

  @Field(() => Int, { nullable: true, description: 'HTTP status of that probe; null where no answer came.' })
  lastProbeStatus?: number | null;

  @Field(() => Int, { nullable: true, description: 'Time to its whole answer.' })
  lastProbeLatencyMs?: number | null;

  @Field(() => UpstreamFaultEnum, { nullable: true, description: 'How that probe failed; null for success.' })
  lastProbeError?: Fault | null;
}

/** How one upstream did on the node that reports. */
@InputType({ description: 'How one upstream did on the node, in about the last five minutes.' })
export class NodeUpstreamInput extends UpstreamCounts {
  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => Int, { nullable: true, description: 'Half of its answers began within this time, in ms.' })
  p50Ms?: number | null;

  @Field(() => Int, { nullable: true, description: 'Nineteen of twenty answers began within it, in ms.' })
  p95Ms?: number | null;
}

/** How one credential did on the node that reports. */
@InputType({ description: 'How one credential did on the node.' })
export class NodeCredentialInput {
  @Field(() => ID, { description: 'The credential.' })
  credentialId!: string;

  @Field(() => Int, { description: 'How long ago it was used, in ms.' })
  usedMsAgo!: number;

  @Field(() => UpstreamFaultEnum, { nullable: true, description: 'How it failed last.' })
  lastError?: Fault | null;

  @Field(() => Int, { nullable: true, description: 'How long ago that was, in ms.' })
  lastErrorMsAgo?: number | null;
}
