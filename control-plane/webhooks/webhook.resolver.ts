/** GraphQL operations of webhook endpoints. Each user has separate endpoints. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { connectionFrom, PageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { AckPayload, IdInput } from '../graphql/inputs.ts';
import { deliveriesOf } from './delivery.rows.ts';
import {
  createEndpoint,
  deleteEndpoint,
  endpointsOf,
  replayDelivery,
  ROTATION_HOURS,
  rotateSecret,
  testEndpoint,
  updateEndpoint,
} from './endpoint.service.ts';
import {
  WebhookDelivery,
  WebhookDeliveryConnection,
  WebhookDeliveryPayload,
  WebhookEndpoint,
  WebhookEndpointCreateInput,
  WebhookEndpointPayload,
  WebhookEndpointSecretPayload,
  WebhookEndpointUpdateInput,
} from './webhook.type.ts';

const CURSORS = cursorsOf('deliveries', 'TEXT');

/** Lists and changes the caller's endpoints. */
@Resolver(() => WebhookEndpoint)
export class WebhookResolver {
  @Authorized('USER')
  @Query(() => [WebhookEndpoint], { description: 'Your webhook endpoints, oldest first; at most 10.' })
  webhookEndpoints(@Ctx() context: Context): Promise<WebhookEndpoint[]> {
    return endpointsOf(context.em, viewerOf(context).id);
  }

  @FieldResolver(() => WebhookDeliveryConnection, {
    description: 'Deliveries of the last 30 days, newest first.',
  })
  async deliveries(
    @Root() endpoint: WebhookEndpoint,
    @Ctx() context: Context,
    @Args(() => PageArguments) page: PageArguments,
  ): Promise<Connection<WebhookDelivery>> {
    const position = positionOf(page, CURSORS);
    const rows = await deliveriesOf(context.em, endpoint.id, position);
    return connectionFrom(rows, {
      position,
      totalCount: null,
      cursor: (row) => CURSORS.encode([row.id]),
      node: (row): WebhookDelivery => row,
    });
  }

  @Authorized('USER')
  @Mutation(() => WebhookEndpointSecretPayload, {
    description: 'Creates a webhook endpoint. Its signing secret is returned only once.',
  })
  webhookEndpointCreate(
    @Ctx() context: Context,
    @Arg('input', () => WebhookEndpointCreateInput, { description: 'The endpoint.' })
    draft: WebhookEndpointCreateInput,
  ): Promise<WebhookEndpointSecretPayload> {
    const { em, settings } = context;
    return outcome({ endpoint: null, secret: null }, () =>
      createEndpoint(em, viewerOf(context), { draft, settings }),
    );
  }

  @Authorized('USER')
  @Mutation(() => WebhookEndpointPayload, { description: 'Changes, enables or disables an endpoint.' })
  webhookEndpointUpdate(
    @Ctx() context: Context,
    @Arg('input', () => WebhookEndpointUpdateInput, { description: 'The changes.' })
    change: WebhookEndpointUpdateInput,
  ): Promise<WebhookEndpointPayload> {
    const { em, settings } = context;
    return outcome({ endpoint: null }, async () => ({
      endpoint: await updateEndpoint(em, viewerOf(context), { change, settings }),
    }));
  }

  @Authorized('USER')
  @Mutation(() => AckPayload, { description: 'Deletes an endpoint with its deliveries.' })
  webhookEndpointDelete(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The endpoint.' }) { id }: IdInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      await deleteEndpoint(context.em, viewerOf(context).id, id);
      return { ok: true };
    });
  }

  @Authorized('USER')
  @Mutation(() => WebhookEndpointSecretPayload, {
    description:
      'Creates a new signing secret, which is returned only once. For ' +
      `${ROTATION_HOURS} hours deliveries are signed with the former secret, too.`,
  })
  webhookSecretRotate(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The endpoint.' }) { id }: IdInput,
  ): Promise<WebhookEndpointSecretPayload> {
    const { secretKey } = context.settings;
    return outcome({ endpoint: null, secret: null }, () =>
      rotateSecret(context.em, { ownerId: viewerOf(context).id, id, secretKey }),
    );
  }

  @Authorized('USER')
  @Mutation(() => WebhookDeliveryPayload, { description: 'Sends the event `webhook.test` to an endpoint.' })
  webhookEndpointTest(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The endpoint.' }) { id }: IdInput,
  ): Promise<WebhookDeliveryPayload> {
    return outcome({ delivery: null }, async () => ({
      delivery: await testEndpoint(context.em, viewerOf(context).id, id),
    }));
  }

  @Authorized('USER')
  @Mutation(() => WebhookDeliveryPayload, {
    description: 'Sends a delivered or failed delivery again, with the same event id.',
  })
  webhookDeliveryReplay(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The delivery.' }) { id }: IdInput,
  ): Promise<WebhookDeliveryPayload> {
    return outcome({ delivery: null }, async () => ({
      delivery: await replayDelivery(context.em, viewerOf(context).id, id),
    }));
  }
}
