/** What nodes are told of providers and routes. */
import type { ProviderRecord, RouteRecord } from '@gateway/shared/records';
import type { ProviderRow, RouteRow } from './upstream.entity.ts';

/** The record of a provider. Private addresses are open to the demo's own upstream, and to all where the operator says so. */
export function providerRecord(provider: ProviderRow, allowPrivateUpstreams = false): ProviderRecord {
  return {
    kind: 'PROVIDER', id: provider.id, name: provider.name, protocols: provider.protocols, baseUrl: provider.baseUrl,
    timeouts: provider.timeouts, concurrencyLimit: provider.concurrencyLimit ?? null,
    allowPrivate: provider.demo || allowPrivateUpstreams,
  };
}

/** The record of a route. */
export function routeRecord(route: RouteRow): RouteRecord {
  return {
    kind: 'ROUTE', id: route.id, modelId: route.modelId, providerId: route.providerId,
    upstreamModel: route.upstreamModel, families: route.families, priority: route.priority, weight: route.weight,
  };
}
