/** GraphQL operations of the models that a provider offers, for administrators only. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserFailure } from '../graphql/errors.ts';
import { readModels } from './model-list.ts';
import {
  AdminProviderModelsInput,
  AdminRoutesInput,
  ProviderModelsPayload,
  RoutesPayload,
} from './model-list.type.ts';
import { targetOf } from './probe-target.ts';
import { createRoutes, findRoutes } from './route.service.ts';
import { providersById } from './upstream.service.ts';

/** Reads what a provider offers, and creates routes to it. */
@Resolver()
export class ModelListResolver {
  @Authorized('ADMIN')
  @Mutation(() => ProviderModelsPayload, {
    description: 'Asks a provider for its list of models, with its first credential. Stores nothing.',
  })
  adminProviderModels(
    @Ctx() context: Context,
    @Arg('input', () => AdminProviderModelsInput, { description: 'The provider.' })
    { providerId }: AdminProviderModelsInput,
  ): Promise<ProviderModelsPayload> {
    return outcome({ models: null }, async () => {
      const { em, settings } = context;
      const [provider] = await providersById(em, [providerId]);
      const target = provider && (await targetOf(em, provider, settings));
      if (!target) throw new UserFailure('NOT_FOUND', 'Unknown provider. Reload the page.', 'providerId');
      const names = await readModels(target);
      const routed = new Set((await findRoutes(em, { providerId })).map((route) => route.upstreamModel));
      return { models: names.map((name) => ({ name, routed: routed.has(name) })) };
    });
  }

  @Authorized('ADMIN')
  @Mutation(() => RoutesPayload, {
    description: 'Creates several routes to a provider, all or none. The first real route ends the demo.',
  })
  adminRoutesCreate(
    @Ctx() context: Context,
    @Arg('input', () => AdminRoutesInput, { description: 'The routes.' }) input: AdminRoutesInput,
  ): Promise<RoutesPayload> {
    return outcome({ routes: null }, async () => ({
      routes: await createRoutes(context.em, input, { actor: actorOf(context), settings: context.settings }),
    }));
  }
}
