/** API types of upstreams, and the inputs and payloads of their mutations. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { DialectName, Family } from '@gateway/shared/catalog';
import { ProviderProtocol, WireFamily } from '../enums.ts';
import { UserError } from '../errors.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, WebAddress } from '../scalars.ts';

/** How long an upstream may take, phase by phase. */
@ObjectType({ description: 'How long an upstream may take, phase by phase, in milliseconds.' })
export class UpstreamTimeouts {
  @Field(() => Int, { description: 'To connect.' })
  connectMs!: number;

  @Field(() => Int, { description: 'Until the headers of its answer.' })
  headersMs!: number;

  @Field(() => Int, { description: 'Until the first content.' })
  firstContentMs!: number;

  @Field(() => Int, { description: 'Between two chunks.' })
  idleMs!: number;

  @Field(() => Int, { description: 'In all.' })
  totalMs!: number;
}

/** A provider's endpoint. */
@ObjectType({ implements: NodeInterface, description: 'An endpoint of a model provider.' })
export class UpstreamProvider extends NodeInterface {
  @Field(() => String, { description: 'A name for people.' })
  name!: string;

  @Field(() => [ProviderProtocol], { description: 'Chat formats it speaks; it may speak several.' })
  protocols!: DialectName[];

  @Field(() => WebAddress, {
    description: 'Base address with its version path, e.g. https://api.example.com/v1.',
  })
  baseUrl!: string;

  @Field(() => Boolean, { description: 'Whether it is asked at all.' })
  enabled!: boolean;

  @Field(() => Boolean, { description: 'Whether it only simulates, until the first real route.' })
  demo!: boolean;

  @Field(() => UpstreamTimeouts, { description: 'How long it may take.' })
  timeouts!: UpstreamTimeouts;

  @Field(() => Int, { nullable: true, description: 'Requests at once per node; no limit when null.' })
  concurrencyLimit?: number | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => Int, { description: 'Counts changes; send it back with an update.' })
  version!: number;
}

/** A write-only secret. */
@ObjectType({
  implements: NodeInterface,
  description: 'Write-only secret: only a label and the last 4 characters are ever readable.',
})
export class UpstreamCredential extends NodeInterface {
  @Field(() => String, { description: 'A name for people.' })
  label!: string;

  @Field(() => String, { description: 'Last four characters.' })
  suffix!: string;

  @Field(() => Boolean, {
    description: 'False once the provider moved to another host: it is never sent there.',
  })
  enabled!: boolean;
}

/** A way from a model to a provider. */
@ObjectType({ implements: NodeInterface, description: 'A way from a model to a provider.' })
export class UpstreamRoute extends NodeInterface {
  @Field(() => String, { description: 'The name the provider knows the model by.' })
  upstreamModel!: string;

  @Field(() => [WireFamily], {
    description: 'What the provider offers under that name; any chat family serves every chat format.',
  })
  families!: Family[];

  @Field(() => Int, { description: 'Lower is asked first.' })
  priority!: number;

  @Field(() => Int, { description: 'Share among routes of one priority.' })
  weight!: number;

  @Field(() => Boolean, { description: 'Whether it is used.' })
  enabled!: boolean;

  @Field(() => Int, { description: 'Counts changes; send it back with an update.' })
  version!: number;
}

/** What a probe found. */
@ObjectType({ description: 'What a probe found.' })
export class UpstreamProbeResult {
  @Field(() => Boolean, { description: 'Whether the upstream answered with success.' })
  ok!: boolean;

  @Field(() => Int, { nullable: true, description: 'HTTP status; null where there was no answer.' })
  status?: number | null;

  @Field(() => Int, { description: 'Time to the whole answer.' })
  latencyMs!: number;

  @Field(() => String, { nullable: true, description: 'What went wrong.' })
  error?: string | null;

  @Field(() => String, { nullable: true, description: 'Beginning of the answer.' })
  sample?: string | null;
}

/** Timeouts to change; what is left out stays. */
@InputType({ description: 'Timeouts to change, in milliseconds; what is left out stays.' })
export class UpstreamTimeoutsInput {
  @Field(() => Int, { nullable: true, description: 'To connect.' })
  connectMs?: number;

  @Field(() => Int, { nullable: true, description: 'Until the headers of its answer.' })
  headersMs?: number;

  @Field(() => Int, { nullable: true, description: 'Until the first content.' })
  firstContentMs?: number;

  @Field(() => Int, { nullable: true, description: 'Between two chunks.' })
  idleMs?: number;

  @Field(() => Int, { nullable: true, description: 'In all.' })
  totalMs?: number;
}

/** A new provider, or with `id` and `version` a changed one. */
@InputType({ description: 'A new provider, or with id and version a changed one.' })
export class AdminProviderInput {
  @Field(() => ID, { nullable: true, description: 'The provider to change.' })
  id?: string | null;

  @Field(() => Int, { nullable: true, description: 'Its version as read; needed with an id.' })
  version?: number | null;

  @Field(() => String, { description: 'A name for people.' })
  name!: string;

  @Field(() => [ProviderProtocol], { description: 'Chat formats it speaks.' })
  protocols!: DialectName[];

  @Field(() => WebAddress, {
    description: 'Base address with its version path; https and public unless private upstreams are allowed.',
  })
  baseUrl!: string;

  @Field(() => Boolean, { description: 'Whether it is asked at all.' })
  enabled!: boolean;

  @Field(() => UpstreamTimeoutsInput, { nullable: true, description: 'How long it may take.' })
  timeouts?: UpstreamTimeoutsInput | null;

  @Field(() => Int, { nullable: true, description: 'Requests at once per node; no limit when null.' })
  concurrencyLimit?: number | null;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** A new credential. */
@InputType({ description: 'A new credential.' })
export class AdminCredentialInput {
  @Field(() => ID, { description: 'The provider it is for.' })
  providerId!: string;

  @Field(() => String, { description: 'A name for people.' })
  label!: string;

  @Field(() => String, { description: 'The secret; never readable again.' })
  secret!: string;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** What to probe. */
@InputType({ description: 'What to probe.' })
export class AdminProbeInput {
  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => String, { description: 'The name the provider knows the model by.' })
  upstreamModel!: string;
}

/** A new route, or with `id` and `version` a changed one. */
@InputType({ description: 'A new route, or with id and version a changed one.' })
export class AdminRouteInput {
  @Field(() => ID, { nullable: true, description: 'The route to change.' })
  id?: string | null;

  @Field(() => Int, { nullable: true, description: 'Its version as read; needed with an id.' })
  version?: number | null;

  @Field(() => ID, { description: 'The model.' })
  modelId!: string;

  @Field(() => ID, { description: 'The provider.' })
  providerId!: string;

  @Field(() => String, { description: 'The name the provider knows the model by.' })
  upstreamModel!: string;

  @Field(() => [WireFamily], { description: 'What the provider offers under that name.' })
  families!: Family[];

  @Field(() => Int, { description: 'Lower is asked first; 0 to 1000.' })
  priority!: number;

  @Field(() => Int, { description: 'Share among routes of one priority; 1 to 10,000.' })
  weight!: number;

  @Field(() => Boolean, { description: 'Whether it is used.' })
  enabled!: boolean;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** Result of a change of a provider. */
@ObjectType({ description: 'Result of a change of a provider.' })
export class ProviderPayload {
  @Field(() => UpstreamProvider, { nullable: true, description: 'The provider.' })
  provider?: UpstreamProvider | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of a change of a route. */
@ObjectType({ description: 'Result of a change of a route.' })
export class RoutePayload {
  @Field(() => UpstreamRoute, { nullable: true, description: 'The route.' })
  route?: UpstreamRoute | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of a probe. */
@ObjectType({ description: 'Result of a probe.' })
export class ProviderProbePayload {
  @Field(() => UpstreamProbeResult, { nullable: true, description: 'What was found.' })
  result?: UpstreamProbeResult | null;

  @Field(() => [UserError], { description: 'Empty where the probe could be sent.' })
  userErrors!: UserError[];
}
