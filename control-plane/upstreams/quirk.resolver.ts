/** GraphQL operations of quirks, for administrators only. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { setQuirks } from './quirk.service.ts';
import { AdminQuirksInput, QuirksPayload, UpstreamQuirk } from './quirk.type.ts';
import type { ProviderRow, RouteRow } from './upstream.entity.ts';
import { UpstreamProvider, UpstreamRoute } from './upstream.type.ts';

/** The mutation of quirks. */
@Resolver()
export class QuirkResolver {
  @Authorized('ADMIN')
  @Mutation(() => QuirksPayload, { description: 'Replaces the quirks of a provider or of a route.' })
  adminQuirksSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminQuirksInput, { description: 'The quirks.' }) input: AdminQuirksInput,
  ): Promise<QuirksPayload> {
    return outcome({ quirks: null }, async () => ({
      quirks: await setQuirks(context.em, input, { actor: actorOf(context), settings: context.settings }),
    }));
  }
}

/** The quirks of a provider. */
@Resolver(() => UpstreamProvider)
export class ProviderQuirks {
  @FieldResolver(() => [UpstreamQuirk], {
    description: 'How it differs from the formats that it speaks, for all of its models.',
  })
  quirks(@Root() provider: ProviderRow): UpstreamQuirk[] {
    return provider.quirks;
  }
}

/** The quirks of a route. */
@Resolver(() => UpstreamRoute)
export class RouteQuirks {
  @FieldResolver(() => [UpstreamQuirk], { description: 'Further quirks of this model at the provider.' })
  quirks(@Root() route: RouteRow): UpstreamQuirk[] {
    return route.quirks;
  }
}
