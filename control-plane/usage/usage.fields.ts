/** Fields of a usage entry on the API that need a look-up: its model, key and route. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { PUBLIC_STATES } from '../catalog/catalog.service.ts';
import { CatalogModel } from '../catalog/catalog.type.ts';
import { isAdminFor } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { ApiKey } from '../keys/key.type.ts';
import { keysById, modelsByNames, routesById } from '../lookups.ts';
import { UpstreamRoute } from '../upstreams/upstream.type.ts';
import type { UsageView } from './usage.service.ts';
import { UsageEntry } from './usage.types.ts';

/** Objects that an entry refers to; null if they no longer exist or the caller may not see them. */
@Resolver(() => UsageEntry)
export class UsageFields {
  @FieldResolver(() => CatalogModel, {
    nullable: true,
    description: 'The model; null if the catalog no longer shows it.',
  })
  async model(@Root() entry: UsageView, @Ctx() context: Context): Promise<CatalogModel | null> {
    const model = await context.batches.load(modelsByNames, entry.modelName);
    const isShown = isAdminFor(context, 'ADMIN_CATALOG') || PUBLIC_STATES.includes(model?.state ?? 'DRAFT');
    return model && isShown ? model : null;
  }

  @FieldResolver(() => ApiKey, {
    nullable: true,
    description: "The key; null for requests without a key of the user's own.",
  })
  async key(@Root() entry: UsageView, @Ctx() context: Context): Promise<ApiKey | null> {
    const key = entry.keyId === null ? null : await context.batches.load(keysById, entry.keyId);
    const maySee = key?.ownerId === context.viewer?.id || isAdminFor(context, 'ADMIN_USERS');
    return key && maySee ? key : null;
  }

  @FieldResolver(() => UpstreamRoute, {
    nullable: true,
    description: 'The route to the provider; null for callers who are not administrators.',
  })
  async route(@Root() entry: UsageView, @Ctx() context: Context): Promise<UpstreamRoute | null> {
    if (entry.routeId === null || !isAdminFor(context, 'ADMIN_UPSTREAMS')) return null;
    return (await context.batches.load(routesById, entry.routeId)) ?? null;
  }
}
