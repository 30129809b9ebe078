/** GraphQL types of the health of upstreams: counts of nodes, and kinds of failures. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { CircuitState, Fault } from '@gateway/shared/upstream-health';
import { describeEnum, HealthStatus } from '../graphql/enums.ts';
import { DateTime, Decimal } from '../graphql/scalars.ts';

export const CircuitStateEnum = describeEnum<CircuitState>(
  'CircuitState',
  'State of the circuit breaker of an upstream.',
  {
    CLOSED: 'The node uses the upstream.',
    HALF_OPEN: 'The node sends one request to test whether the upstream works again.',
    OPEN: 'The node does not use the upstream for a while, after too many failures.',
  },
);

export const UpstreamFaultEnum = describeEnum<Fault>('UpstreamFault', 'Kind of failure of an upstream.', {
  BUSY: 'The upstream was overloaded, or its rate limit was reached.',
  TIMEOUT: 'The upstream took too long.',
  REFUSED: 'The upstream refused the credential, or the request without one.',
  FAILED: 'The upstream could not be reached, or sent an error or an invalid answer.',
});

/** Counts that nodes report and the API shows. Not a type of the API itself. */
@InputType()
@ObjectType()
abstract class UpstreamCounts {
  @Field(() => CircuitStateEnum, { description: 'State of the circuit breaker on the node.' })
  circuit!: CircuitState;

  @Field(() => Int, {
    description: 'Requests in the last five minutes, without those that failed because of the client.',
  })
  requests!: number;

  @Field(() => Int, { description: 'Requests that failed with BUSY.' })
  busy!: number;

  @Field(() => Int, { description: 'Requests that failed with TIMEOUT.' })
  timeouts!: number;

  @Field(() => Int, { description: 'Requests that failed with REFUSED.' })
  refused!: number;

  @Field(() => Int, { description: 'Requests that failed otherwise.' })
  failed!: number;
}

const INPUT_TOKENS = 'Input tokens of the last five minutes, as the upstream counted them.';
const CACHED_TOKENS = 'Those of them that came from a prompt cache.';

const CLOCK_AHEAD =
  'By how much the clock of the node was ahead of the upstream in ms, less than 0 if behind, when the ' +
  'upstream last refused its authentication; null if it did not, or if the clocks hardly differ.';

/** Health of an upstream on one node. */
@ObjectType({ description: 'Health of an upstream on one node.' })
export class ProviderNodeHealth extends UpstreamCounts {
  @Field(() => String, { description: 'Name of the node.' })
  nodeName!: string;

  @Field(() => DateTime, { description: 'When the node reported it.' })
  asOf!: Date;

  @Field(() => Int, { nullable: true, description: 'Median time to the start of the answer in ms.' })
  p50LatencyMs?: number | null;

  @Field(() => Int, { nullable: true, description: '95th percentile of that time in ms.' })
  p95LatencyMs?: number | null;

  @Field(() => Int, { description: INPUT_TOKENS })
  inputTokens!: number;

  @Field(() => Int, { description: CACHED_TOKENS })
  cachedTokens!: number;

  @Field(() => Int, { nullable: true, description: CLOCK_AHEAD })
  clockAheadMs!: number | null;
}

/** Health of an upstream. */
@ObjectType({
  description:
    'Health of an upstream, from the nodes that reported in the last 20 seconds, and its last probe.',
})
export class ProviderHealth {
  @Field(() => HealthStatus, { description: 'Summary; UNKNOWN if no node has reported on it.' })
  status!: keyof typeof HealthStatus;

  @Field(() => CircuitStateEnum, { description: 'The worst state of all nodes.' })
  circuit!: CircuitState;

  @Field(() => Int, {
    description: 'Requests in the last five minutes, without those that failed because of the client.',
  })
  requests5m!: number;

  @Field(() => Decimal, {
    nullable: true,
    description: 'Share of these requests that failed, 0 to 1; null if there were none.',
  })
  errorRate5m?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: '95th percentile of the time to the start of the answer in ms, on the slowest node.',
  })
  p95LatencyMs?: number | null;

  @Field(() => Decimal, { description: INPUT_TOKENS })
  inputTokens5m!: string;

  @Field(() => Decimal, { description: CACHED_TOKENS })
  cachedTokens5m!: string;

  @Field(() => Boolean, {
    description:
      'Whether the upstream refused requests in the last five minutes (401 or 403) and none of its ' +
      'credentials is enabled: nodes then leave it as they leave a failing one. Add a credential.',
  })
  needsCredential!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'Time of the latest report; null if there is none.' })
  asOf?: Date | null;

  @Field(() => [ProviderNodeHealth], { description: 'Health on each node, by name.' })
  nodes!: ProviderNodeHealth[];

  @Field(() => DateTime, { nullable: true, description: 'Time of the last probe; null if there was none.' })
  lastProbeAt?: Date | null;

  @Field(() => Int, { nullable: true, description: 'HTTP status of the last probe; null without an answer.' })
  lastProbeStatus?: number | null;

  @Field(() => Int, { nullable: true, description: 'Time to its complete answer in ms.' })
  lastProbeLatencyMs?: number | null;

  @Field(() => UpstreamFaultEnum, { nullable: true, description: 'Its failure; null if it was successful.' })
  lastProbeError?: Fault | null;
}

/** Report of a node on one upstream. */
@InputType({ description: 'Report of a node on one upstream, over about the last five minutes.' })
export class NodeUpstreamInput extends UpstreamCounts {
  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => Int, { nullable: true, description: 'Median time to the start of the answer in ms.' })
  p50Ms?: number | null;

  @Field(() => Int, { nullable: true, description: '95th percentile of that time in ms.' })
  p95Ms?: number | null;

  @Field(() => Int, { nullable: true, description: INPUT_TOKENS })
  inputTokens?: number | null;

  @Field(() => Int, { nullable: true, description: CACHED_TOKENS })
  cachedTokens?: number | null;

  @Field(() => Int, { nullable: true, description: CLOCK_AHEAD })
  clockAheadMs?: number | null;
}

/** Report of a node on one credential. */
@InputType({ description: 'Report of a node on one credential.' })
export class NodeCredentialInput {
  @Field(() => ID, { description: 'The credential.' })
  credentialId!: string;

  @Field(() => Int, { description: 'Time since its last use in ms.' })
  usedMsAgo!: number;

  @Field(() => UpstreamFaultEnum, { nullable: true, description: 'Its last failure; null for none.' })
  lastError?: Fault | null;

  @Field(() => Int, { nullable: true, description: 'Time since its last failure in ms.' })
  lastErrorMsAgo?: number | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Rest of its suspension after refusals in ms; null for none.',
  })
  suspendedMs?: number | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'How long others are preferred because its quota is nearly used up, in ms; null for not at all.',
  })
  spentMs?: number | null;
}

/** Report of a node on a route that it has ejected. */
@InputType({ description: 'Report of a node on a route that it has ejected after failures.' })
export class NodeRouteInput {
  @Field(() => ID, { description: 'The route.' })
  routeId!: string;

  @Field(() => Int, { description: 'How long it is still ejected, in ms.' })
  openMs!: number;
}
