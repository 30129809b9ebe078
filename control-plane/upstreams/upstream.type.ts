/** GraphQL types of upstreams, and inputs and payloads of their mutations. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { ProtocolName, Family } from '@gateway/shared/catalog';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import type { Micros } from '@gateway/shared/money';
import { ProviderProtocol, WireFamily } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Money, WebAddress } from '../graphql/scalars.ts';
import type { AccessInput } from './access.rules.ts';
import { UpstreamQuirkInput } from './quirk.type.ts';
import { UpstreamAccessInput, UpstreamAccessSettings } from './access.type.ts';

/** Timeouts of an upstream in ms. */
@ObjectType({ description: 'Timeouts of an upstream in milliseconds.' })
export class UpstreamTimeouts {
  @Field(() => Int, { description: 'Time to connect.' })
  connectMs!: number;

  @Field(() => Int, { description: 'Time to the headers of the answer.' })
  headersMs!: number;

  @Field(() => Int, { description: 'Time to the first content.' })
  firstContentMs!: number;

  @Field(() => Int, { description: 'Time between two chunks.' })
  idleMs!: number;

  @Field(() => Int, { description: 'Total time.' })
  totalMs!: number;
}

/** An endpoint of a model provider. */
@ObjectType({ implements: GlobalObject, description: 'An endpoint of a model provider.' })
export class UpstreamProvider extends GlobalObject {
  @Field(() => String, { description: 'Name of the provider.' })
  name!: string;

  @Field(() => [ProviderProtocol], { description: 'Chat formats that it supports.' })
  protocols!: ProtocolName[];

  @Field(() => WebAddress, {
    description: 'Base address with its version path, e.g. https://api.example.com/v1.',
  })
  baseUrl!: string;

  @Field(() => Boolean, { description: 'Whether nodes use it.' })
  enabled!: boolean;

  @Field(() => Boolean, {
    description: 'Whether it is the simulated upstream, which the first real route deletes.',
  })
  demo!: boolean;

  @Field(() => UpstreamTimeouts, { description: 'Timeouts.' })
  timeouts!: UpstreamTimeouts;

  @Field(() => Int, {
    nullable: true,
    description: 'Maximum number of concurrent requests per node; null for no limit.',
  })
  concurrencyLimit?: number | null;

  @Field(() => UpstreamAccessSettings, {
    nullable: true,
    description: 'How it is reached; null for an API key in the header of the request format.',
  })
  access?: UpstreamAccess | null;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => Int, { description: 'Number of the version. Send it with adminProviderUpsert.' })
  version!: number;
}

const COST = 'What one request costs the operator on average, for the policy CHEAPEST; null if unknown.';

/** A route from a model to a provider. */
@ObjectType({ implements: GlobalObject, description: 'A route from a model to a provider.' })
export class UpstreamRoute extends GlobalObject {
  @Field(() => String, { description: "The provider's name of the model." })
  upstreamModel!: string;

  @Field(() => [WireFamily], {
    description:
      'Families that the provider serves with this model. Any chat family serves all chat formats.',
  })
  families!: Family[];

  @Field(() => Int, { description: 'Routes with a lower value are used first.' })
  priority!: number;

  @Field(() => Int, { description: 'Share of the requests among routes of the same priority.' })
  weight!: number;

  @Field(() => Money, { nullable: true, description: COST })
  cost?: Micros | null;

  @Field(() => Boolean, { description: 'Whether nodes use it.' })
  enabled!: boolean;

  @Field(() => Int, { description: 'Number of the version. Send it with adminRouteUpsert.' })
  version!: number;
}

/** Result of a probe. */
@ObjectType({ description: 'Result of a probe.' })
export class UpstreamProbeResult {
  @Field(() => Boolean, { description: 'Whether the upstream answered successfully.' })
  ok!: boolean;

  @Field(() => Int, { nullable: true, description: 'HTTP status; null if there was no answer.' })
  status?: number | null;

  @Field(() => Int, { description: 'Time to the complete answer in ms.' })
  latencyMs!: number;

  @Field(() => String, { nullable: true, description: 'Error text of the upstream or the connection.' })
  error?: string | null;

  @Field(() => String, { nullable: true, description: 'Beginning of a successful answer.' })
  sample?: string | null;
}

/** Timeouts to change, in ms. */
@InputType({ description: 'Timeouts to change, in milliseconds. Fields that are left out stay unchanged.' })
export class UpstreamTimeoutsInput {
  @Field(() => Int, { nullable: true, description: 'Time to connect.' })
  connectMs?: number;

  @Field(() => Int, { nullable: true, description: 'Time to the headers of the answer.' })
  headersMs?: number;

  @Field(() => Int, { nullable: true, description: 'Time to the first content.' })
  firstContentMs?: number;

  @Field(() => Int, { nullable: true, description: 'Time between two chunks.' })
  idleMs?: number;

  @Field(() => Int, { nullable: true, description: 'Total time.' })
  totalMs?: number;
}

/** Input of `adminProviderUpsert`. */
@InputType({ description: 'A new provider or, with id and version, a changed one.' })
export class AdminProviderInput {
  @Field(() => ID, { nullable: true, description: 'The provider to change.' })
  id?: string | null;

  @Field(() => Int, { nullable: true, description: 'Version when it was read; required with id.' })
  version?: number | null;

  @Field(() => String, { description: 'Name of the provider.' })
  name!: string;

  @Field(() => [ProviderProtocol], { description: 'Chat formats that it supports.' })
  protocols!: ProtocolName[];

  @Field(() => WebAddress, {
    description:
      'Base address with its version path. It must be https and public, unless private is allowed.',
  })
  baseUrl!: string;

  @Field(() => Boolean, { description: 'Whether nodes use it.' })
  enabled!: boolean;

  @Field(() => UpstreamTimeoutsInput, { nullable: true, description: 'Timeouts.' })
  timeouts?: UpstreamTimeoutsInput | null;

  @Field(() => Int, {
    nullable: true,
    description: 'Maximum number of concurrent requests per node; null for no limit.',
  })
  concurrencyLimit?: number | null;

  @Field(() => UpstreamAccessInput, {
    nullable: true,
    description:
      'How it is reached. Left out, it stays unchanged; null is an API key in the header of the format. ' +
      'Credentials of another kind of authentication are disabled.',
  })
  access?: AccessInput | null;

  @Field(() => [UpstreamQuirkInput], {
    nullable: true,
    description: 'Its quirks. Left out, they stay unchanged.',
  })
  quirks?: UpstreamQuirkInput[] | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Input of `adminProviderProbe`. */
@InputType({ description: 'What to probe.' })
export class AdminProbeInput {
  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => String, { description: "The provider's name of the model." })
  upstreamModel!: string;
}

/** Input of `adminRouteUpsert`. */
@InputType({ description: 'A new route or, with id and version, a changed one.' })
export class AdminRouteInput {
  @Field(() => ID, { nullable: true, description: 'The route to change.' })
  id?: string | null;

  @Field(() => Int, { nullable: true, description: 'Version when it was read; required with id.' })
  version?: number | null;

  @Field(() => ID, { description: 'The model.' })
  modelId!: string;

  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => String, { description: "The provider's name of the model." })
  upstreamModel!: string;

  @Field(() => [WireFamily], { description: 'Families that the provider serves with this model.' })
  families!: Family[];

  @Field(() => Int, { description: 'Priority, 0 to 1000. Routes with a lower value are used first.' })
  priority!: number;

  @Field(() => Int, { description: 'Share of the requests among routes of the same priority, 1 to 10,000.' })
  weight!: number;

  @Field(() => Money, { nullable: true, description: COST })
  cost?: Micros | null;

  @Field(() => Boolean, { description: 'Whether nodes use it.' })
  enabled!: boolean;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Result of a change of a provider. */
@ObjectType({ description: 'Result of a change of a provider.' })
export class ProviderPayload {
  @Field(() => UpstreamProvider, {
    nullable: true,
    description: 'The provider; null if the mutation failed.',
  })
  provider?: UpstreamProvider | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of a change of a route. */
@ObjectType({ description: 'Result of a change of a route.' })
export class RoutePayload {
  @Field(() => UpstreamRoute, { nullable: true, description: 'The route; null if the mutation failed.' })
  route?: UpstreamRoute | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of `adminProviderProbe`. */
@ObjectType({ description: 'Result of probing a provider.' })
export class ProviderProbePayload {
  @Field(() => UpstreamProbeResult, { nullable: true, description: 'Result; null if no probe was sent.' })
  result?: UpstreamProbeResult | null;

  @Field(() => [UserError], { description: 'Empty if the probe was sent.' })
  userErrors!: UserError[];
}
