/** GraphQL types of webhook endpoints and deliveries. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { connectionOf } from '../graphql/connections.ts';
import { describeEnum } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { DateTime, WebAddress } from '../graphql/scalars.ts';
import { WebhookEvent } from './event.types.ts';

const WebhookEndpointState = describeEnum('WebhookEndpointState', 'Whether a webhook endpoint receives.', {
  ENABLED: 'It receives events.',
  DISABLED: 'Its owner disabled it.',
  FAILED: 'The gateway disabled it, because its receiver failed for about a day or answered 410.',
});

const WebhookDeliveryState = describeEnum('WebhookDeliveryState', 'State of a delivery.', {
  PENDING: 'It will be sent, or sent again.',
  DELIVERED: 'The receiver answered with a status of 200 to 299.',
  FAILED: 'All attempts failed, or the endpoint was disabled.',
});

const WebhookDeliveryError = describeEnum('WebhookDeliveryError', 'Why an attempt failed.', {
  ADDRESS: 'The address is not https, or not public.',
  CONNECTION: 'There was no connection: name, certificate, network, or a name of a private address.',
  TIMEOUT: 'There was no answer within 15 seconds.',
  STATUS: 'The receiver answered with another status than 200 to 299. Redirects are not followed.',
});

/** An address that receives events. */
@ObjectType({ description: 'An address to which the gateway posts events, signed with a secret.' })
export class WebhookEndpoint {
  @Field(() => ID, { description: 'Id of the endpoint.' })
  id!: string;

  @Field(() => WebAddress, { description: 'The address.' })
  url!: string;

  @Field(() => String, { description: 'Description that the owner gave it.' })
  description!: string;

  @Field(() => [WebhookEvent], { description: 'The events that it receives.' })
  events!: WebhookEvent[];

  @Field(() => WebhookEndpointState, { description: 'Whether it receives events.' })
  state!: keyof typeof WebhookEndpointState;

  @Field(() => Int, { description: 'Version, for changes.' })
  version!: number;

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'First failure since the last success.' })
  failingSince?: Date | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'Until when deliveries are also signed with the former secret; null without a rotation.',
  })
  previousSecretUntil?: Date | null;
}

/** One event on its way to one endpoint. */
@ObjectType({ description: 'One event on its way to one endpoint. Answers of receivers are not stored.' })
export class WebhookDelivery {
  @Field(() => ID, { description: 'Id of the delivery.' })
  id!: string;

  @Field(() => ID, { description: 'Id of the event, sent as `webhook-id`.' })
  eventId!: string;

  @Field(() => String, { description: 'Name of the event, e.g. `wallet.low_balance`.' })
  type!: string;

  @Field(() => String, { description: 'The body, as it is sent.' })
  payload!: string;

  @Field(() => WebhookDeliveryState, { description: 'State of the delivery.' })
  state!: keyof typeof WebhookDeliveryState;

  @Field(() => Int, { description: 'Attempts so far; a repetition counts anew.' })
  attempts!: number;

  @Field(() => DateTime, { description: 'When the event happened.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'The next attempt; null if none follows.' })
  nextAttemptAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'The end of the last attempt.' })
  lastAttemptAt?: Date | null;

  @Field(() => Int, { nullable: true, description: 'HTTP status of the last answer; null without one.' })
  responseStatus?: number | null;

  @Field(() => WebhookDeliveryError, { nullable: true, description: 'Why the last attempt failed.' })
  error?: keyof typeof WebhookDeliveryError | null;
}

export const WebhookDeliveryConnection = connectionOf('WebhookDelivery', WebhookDelivery, {
  countable: false,
});

/** Input of `webhookEndpointCreate`. */
@InputType({ description: 'A new webhook endpoint.' })
export class WebhookEndpointCreateInput {
  @Field(() => WebAddress, { description: 'An https address on a public host.' })
  url!: string;

  @Field(() => String, { nullable: true, description: 'Description, at most 200 characters.' })
  description?: string | null;

  @Field(() => [WebhookEvent], { description: 'The events that it receives.' })
  events!: WebhookEvent[];
}

/** Input of `webhookEndpointUpdate`. */
@InputType({ description: 'Changes of a webhook endpoint. Fields that are left out stay unchanged.' })
export class WebhookEndpointUpdateInput {
  @Field(() => ID, { description: 'Id of the endpoint.' })
  id!: string;

  @Field(() => Int, { description: 'Version that was read.' })
  version!: number;

  @Field(() => WebAddress, { nullable: true, description: 'An https address on a public host.' })
  url?: string | null;

  @Field(() => String, { nullable: true, description: 'Description, at most 200 characters.' })
  description?: string | null;

  @Field(() => [WebhookEvent], { nullable: true, description: 'The events that it receives.' })
  events?: WebhookEvent[] | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether it receives events. Disabling it ends its waiting deliveries as failed.',
  })
  enabled?: boolean | null;
}

/** Result of a change of a webhook endpoint. */
@ObjectType({ description: 'Result of a change of a webhook endpoint.' })
export class WebhookEndpointPayload {
  @Field(() => WebhookEndpoint, { nullable: true, description: 'The endpoint; null if the mutation failed.' })
  endpoint?: WebhookEndpoint | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of creating an endpoint or rotating its secret. */
@ObjectType({ description: 'Result of a mutation that creates a signing secret.' })
export class WebhookEndpointSecretPayload extends WebhookEndpointPayload {
  @Field(() => String, { nullable: true, description: 'The secret (whsec_…). It is returned only once.' })
  secret?: string | null;
}

/** Result of a mutation that sends a delivery. */
@ObjectType({ description: 'Result of a mutation that sends a delivery.' })
export class WebhookDeliveryPayload {
  @Field(() => WebhookDelivery, { nullable: true, description: 'The delivery; null if the mutation failed.' })
  delivery?: WebhookDelivery | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}
