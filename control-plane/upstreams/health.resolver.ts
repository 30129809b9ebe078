/** GraphQL fields with the health of providers and the last use of credentials. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Fault } from '@gateway/shared/upstream-health';
import type { Context } from '../graphql/context.ts';
import { DateTime } from '../graphql/scalars.ts';
import { credentialsOfProviders } from '../lookups.ts';
import { healthOfProviders, probesOfProviders } from './health.service.ts';
import { UNKNOWN_HEALTH } from './health.view.ts';
import { openRoutes, usesOfCredentials } from './suspension.service.ts';
import type { CredentialUse } from './suspension.service.ts';
import { ProviderHealth, UpstreamFaultEnum } from './health.type.ts';
import type { CredentialRow, ProviderRow, RouteRow } from './upstream.entity.ts';
import { UpstreamCredential } from './credential.type.ts';
import { UpstreamProvider, UpstreamRoute } from './upstream.type.ts';

/** The health of a provider. */
@Resolver(() => UpstreamProvider)
export class ProviderHealthResolver {
  @FieldResolver(() => ProviderHealth, {
    description: 'Health of the provider as nodes report it, and its last probe.',
  })
  async health(@Root() { id }: ProviderRow, @Ctx() { batches }: Context): Promise<ProviderHealth> {
    const [health = UNKNOWN_HEALTH, probe, credentials = []] = await Promise.all([
      batches.load(healthOfProviders, id),
      batches.load(probesOfProviders, id),
      batches.load(credentialsOfProviders, id),
    ]);
    return {
      ...health,
      needsCredential:
        health.nodes.some(({ refused }) => refused > 0) && !credentials.some(({ enabled }) => enabled),
      lastProbeAt: probe?.at ?? null,
      lastProbeStatus: probe?.status ?? null,
      lastProbeLatencyMs: probe?.latencyMs ?? null,
      lastProbeError: probe?.error ?? null,
    };
  }
}

/** Last use and last failure of a credential. */
@Resolver(() => UpstreamCredential)
export class CredentialUseResolver {
  @FieldResolver(() => DateTime, { nullable: true, description: 'When a node last used it.' })
  async lastUsedAt(@Root() credential: CredentialRow, @Ctx() context: Context): Promise<Date | null> {
    return (await useOf(credential, context))?.lastUsedAt ?? null;
  }

  @FieldResolver(() => UpstreamFaultEnum, {
    nullable: true,
    description: 'The last failure of a request with it.',
  })
  async lastError(@Root() credential: CredentialRow, @Ctx() context: Context): Promise<Fault | null> {
    return (await useOf(credential, context))?.lastError ?? null;
  }

  @FieldResolver(() => DateTime, { nullable: true, description: 'Time of the last failure.' })
  async lastErrorAt(@Root() credential: CredentialRow, @Ctx() context: Context): Promise<Date | null> {
    return (await useOf(credential, context))?.lastErrorAt ?? null;
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'Until when a node suspends it after refusals, on one route at least; null if none does.',
  })
  async suspendedUntil(@Root() credential: CredentialRow, @Ctx() context: Context): Promise<Date | null> {
    return (await useOf(credential, context))?.suspendedUntil ?? null;
  }

  @FieldResolver(() => DateTime, {
    nullable: true,
    description:
      'Until when a node prefers other credentials, because the quota of this one is nearly used up; ' +
      'null if none does.',
  })
  async quotaSpentUntil(@Root() credential: CredentialRow, @Ctx() context: Context): Promise<Date | null> {
    return (await useOf(credential, context))?.spentUntil ?? null;
  }
}

/** The circuit of a route. */
@Resolver(() => UpstreamRoute)
export class RouteCircuitResolver {
  @FieldResolver(() => DateTime, {
    nullable: true,
    description: 'Until when a node ejects it after failures; null if all nodes use it.',
  })
  async openUntil(@Root() { id }: RouteRow, @Ctx() { batches }: Context): Promise<Date | null> {
    return (await batches.load(openRoutes, id)) ?? null;
  }
}

function useOf({ id }: CredentialRow, { batches }: Context): Promise<CredentialUse | undefined> {
  return batches.load(usesOfCredentials, id);
}
