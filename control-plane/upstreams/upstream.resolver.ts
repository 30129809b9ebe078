/** Upstreams on the API: administrators only. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from 'type-graphql';
import { AdminQuery } from '../admin-query.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { actorOf, Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, UserFailure } from '../errors.ts';
import { AckPayload, AdminReasonInput } from '../inputs.ts';
import {
  credentialsOfProviders,
  modelsByIds,
  providersByIds,
  routesOfModels,
  routesOfProviders,
} from '../lookups.ts';
import { keepProbe } from './health.service.ts';
import { probe } from './probe.ts';
import { deleteRoute, findRoutes, upsertRoute } from './route.service.ts';
import type { CredentialRow, ProviderRow, RouteRow } from './upstream.entity.ts';
import {
  addCredential,
  credentialOpener,
  credentialsOf,
  deleteProvider,
  findProviders,
  providersById,
  removeCredential,
  upsertProvider,
} from './upstream.service.ts';
import type { Change } from './upstream.service.ts';
import {
  AdminCredentialInput,
  AdminProbeInput,
  AdminProviderInput,
  AdminRouteInput,
  ProviderPayload,
  ProviderProbePayload,
  RoutePayload,
  UpstreamCredential,
  UpstreamProvider,
  UpstreamRoute,
} from './upstream.type.ts';

/** What administrators do with upstreams. */
@Resolver()
export class UpstreamResolver {
  @Authorized('ADMIN')
  @Mutation(() => ProviderPayload, { description: 'Makes or changes a provider.' })
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
    description: 'Stores a credential of a provider; it cannot be read again.',
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
      'Asks a provider one tiny question, to see whether it is set up right. What it found is kept.',
  })
  adminProviderProbe(
    @Ctx() context: Context,
    @Arg('input', () => AdminProbeInput, { description: 'What to probe.' }) input: AdminProbeInput,
  ): Promise<ProviderProbePayload> {
    return outcome({ result: null }, async () => {
      const [provider] = await providersById(context.em, [input.providerId]);
      const [protocol] = provider?.protocols ?? [];
      if (!provider || !protocol)
        throw new UserFailure('NOT_FOUND', 'There is no such provider.', 'providerId');
      const credential = (await credentialsOf(context.em, provider.id)).find((row) => row.enabled);
      const open = credentialOpener(context.settings.secretKey);
      const secret = credential ? await open(context.em, credential.id) : undefined;
      const { baseUrl, allowPrivate, demo } = provider;
      const { upstreamModel } = input;
      const result = await probe({
        protocol,
        baseUrl,
        upstreamModel,
        secret: secret ?? null,
        allowPrivate: allowPrivate || demo,
      });
      await keepProbe(context.em, provider.id, result);
      return { result };
    });
  }

  @Authorized('ADMIN')
  @Mutation(() => RoutePayload, {
    description: 'Makes or changes a route; the first to a real provider ends the demo.',
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

/** Upstreams as administrators read them. */
@Resolver(() => AdminQuery)
export class AdminUpstreamsResolver {
  @FieldResolver(() => [UpstreamProvider], { description: 'All providers, by name.' })
  providers(@Ctx() context: Context): Promise<UpstreamProvider[]> {
    return findProviders(context.em);
  }

  @FieldResolver(() => [UpstreamRoute], { description: 'Routes of a model, of a provider, or all.' })
  routes(
    @Ctx() context: Context,
    @Arg('modelId', () => ID, { nullable: true, description: 'Only of this model.' }) modelId: string | null,
    @Arg('providerId', () => ID, { nullable: true, description: 'Only to this provider.' }) providerId:
      | string
      | null,
  ): Promise<UpstreamRoute[]> {
    return findRoutes(context.em, { modelId, providerId });
  }
}

/** What hangs on a provider. */
@Resolver(() => UpstreamProvider)
export class ProviderFields {
  @FieldResolver(() => [UpstreamCredential], { description: 'Its credentials, oldest first.' })
  async credentials(@Root() provider: ProviderRow, @Ctx() context: Context): Promise<CredentialRow[]> {
    return (await context.batches.load(credentialsOfProviders, provider.id)) ?? [];
  }

  @FieldResolver(() => [UpstreamRoute], { description: 'Routes to it.' })
  async routes(@Root() provider: ProviderRow, @Ctx() context: Context): Promise<RouteRow[]> {
    return (await context.batches.load(routesOfProviders, provider.id)) ?? [];
  }
}

/** The two ends of a route. */
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
    description: 'Ways to providers; administrators only.',
  })
  async routes(@Root() model: CatalogModel, @Ctx() context: Context): Promise<RouteRow[]> {
    return (await context.batches.load(routesOfModels, model.id)) ?? [];
  }
}

function changeOf(context: Context): Change {
  return { actor: actorOf(context), settings: context.settings };
}
