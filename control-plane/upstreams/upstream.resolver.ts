/** GraphQL operations of upstreams, for administrators only. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserFailure } from '../graphql/errors.ts';
import { AckPayload, AdminReasonInput } from '../graphql/inputs.ts';
import {
  credentialsOfProviders,
  modelsByIds,
  providersByIds,
  routesOfModels,
  routesOfProviders,
} from '../lookups.ts';
import { AdminCredentialInput, UpstreamCredential } from './credential.type.ts';
import { recordProbe } from './health.service.ts';
import { probe } from './probe.ts';
import { targetOf } from './probe-target.ts';
import { deleteRoute, findRoutes, upsertRoute } from './route.service.ts';
import type { CredentialRow, ProviderRow, RouteRow } from './upstream.entity.ts';
import {
  addCredential,
  deleteProvider,
  findProviders,
  providersById,
  removeCredential,
  upsertProvider,
} from './upstream.service.ts';
import type { Change } from './upstream.service.ts';
import {
  AdminProbeInput,
  AdminProviderInput,
  AdminRouteInput,
  ProviderPayload,
  ProviderProbePayload,
  RoutePayload,
  UpstreamProvider,
  UpstreamRoute,
} from './upstream.type.ts';

/** Mutations of providers, credentials and routes. */
@Resolver()
export class UpstreamResolver {
  @Authorized('ADMIN')
  @Mutation(() => ProviderPayload, { description: 'Creates or changes a provider.' })
  adminProviderUpsert(
    @Ctx() context: Context,
    @Arg('input', () => AdminProviderInput, { description: 'The provider.' }) input: AdminProviderInput,
  ): Promise<ProviderPayload> {
    return outcome({ provider: null }, async () => ({
      provider: await upsertProvider(context.em, input, changeOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => AckPayload, { description: 'Deletes a provider with its credentials and routes.' })
  adminProviderDelete(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The provider.' }) input: AdminReasonInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      await deleteProvider(context.em, input, changeOf(context));
      return { ok: true };
    });
  }

  @Authorized('ADMIN')
  @Mutation(() => ProviderPayload, {
    description: 'Stores a credential of a provider. Its secret cannot be read again.',
  })
  adminCredentialAdd(
    @Ctx() context: Context,
    @Arg('input', () => AdminCredentialInput, { description: 'The credential.' }) input: AdminCredentialInput,
  ): Promise<ProviderPayload> {
    return outcome({ provider: null }, async () => ({
      provider: await addCredential(context.em, input, changeOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => ProviderPayload, { description: 'Deletes a credential.' })
  adminCredentialRemove(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The credential.' }) input: AdminReasonInput,
  ): Promise<ProviderPayload> {
    return outcome({ provider: null }, async () => ({
      provider: await removeCredential(context.em, input, changeOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => ProviderProbePayload, {
    description:
      'Sends one small request to a provider to test its configuration. Stores status, latency and the ' +
      'kind of failure.',
  })
  adminProviderProbe(
    @Ctx() context: Context,
    @Arg('input', () => AdminProbeInput, { description: 'What to probe.' }) input: AdminProbeInput,
  ): Promise<ProviderProbePayload> {
    return outcome({ result: null }, async () => {
      const [provider] = await providersById(context.em, [input.providerId]);
      const target = provider && (await targetOf(context.em, provider, context.settings));
      if (!provider || !target)
        throw new UserFailure('NOT_FOUND', 'Unknown provider. Reload the page.', 'providerId');
      const result = await probe({ ...target, upstreamModel: input.upstreamModel });
      await recordProbe(context.em, provider.id, result);
      return { result };
    });
  }

  @Authorized('ADMIN')
  @Mutation(() => RoutePayload, {
    description: 'Creates or changes a route. The first route to a real provider ends the demo.',
  })
  adminRouteUpsert(
    @Ctx() context: Context,
    @Arg('input', () => AdminRouteInput, { description: 'The route.' }) input: AdminRouteInput,
  ): Promise<RoutePayload> {
    return outcome({ route: null }, async () => ({
      route: await upsertRoute(context.em, input, changeOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => AckPayload, { description: 'Deletes a route.' })
  adminRouteDelete(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The route.' }) input: AdminReasonInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      await deleteRoute(context.em, input, changeOf(context));
      return { ok: true };
    });
  }
}

/** Lists of providers and routes for administrators. */
@Resolver(() => AdminQuery)
export class AdminUpstreamsResolver {
  @FieldResolver(() => [UpstreamProvider], { description: 'All providers, by name.' })
  providers(@Ctx() context: Context): Promise<UpstreamProvider[]> {
    return findProviders(context.em);
  }

  @FieldResolver(() => [UpstreamRoute], { description: 'Routes of a model, of a provider, or all.' })
  routes(
    @Ctx() context: Context,
    @Arg('modelId', () => ID, { nullable: true, description: 'Only routes of this model.' }) modelId:
      | string
      | null,
    @Arg('providerId', () => ID, { nullable: true, description: 'Only routes to this provider.' })
    providerId: string | null,
  ): Promise<UpstreamRoute[]> {
    return findRoutes(context.em, { modelId, providerId });
  }
}

/** Credentials and routes of a provider. */
@Resolver(() => UpstreamProvider)
export class ProviderFields {
  @FieldResolver(() => [UpstreamCredential], { description: 'Credentials of the provider, oldest first.' })
  async credentials(@Root() provider: ProviderRow, @Ctx() context: Context): Promise<CredentialRow[]> {
    return (await context.batches.load(credentialsOfProviders, provider.id)) ?? [];
  }

  @FieldResolver(() => [UpstreamRoute], { description: 'Routes to the provider.' })
  async routes(@Root() provider: ProviderRow, @Ctx() context: Context): Promise<RouteRow[]> {
    return (await context.batches.load(routesOfProviders, provider.id)) ?? [];
  }
}

/** Model and provider of a route. */
@Resolver(() => UpstreamRoute)
export class RouteFields {
  @FieldResolver(() => CatalogModel, { description: 'The model.' })
  model(@Root() route: RouteRow, @Ctx() context: Context): Promise<CatalogModel | undefined> {
    return context.batches.load(modelsByIds, route.modelId);
  }

  @FieldResolver(() => UpstreamProvider, { description: 'The provider.' })
  provider(@Root() route: RouteRow, @Ctx() context: Context): Promise<ProviderRow | undefined> {
    return context.batches.load(providersByIds, route.providerId);
  }
}

/** The routes of a model. */
@Resolver(() => CatalogModel)
export class ModelRoutesResolver {
  @Authorized('ADMIN')
  @FieldResolver(() => [UpstreamRoute], {
    nullable: true,
    description: 'Routes to providers. Only administrators may read them.',
  })
  async routes(@Root() model: CatalogModel, @Ctx() context: Context): Promise<RouteRow[]> {
    return (await context.batches.load(routesOfModels, model.id)) ?? [];
  }
}

function changeOf(context: Context): Change {
  return { actor: actorOf(context), settings: context.settings };
}
