/** The configuration records of upstreams for nodes. */
import type { CredentialRecord, ProviderRecord, RouteRecord } from '@gateway/shared/records';
import type { CredentialRow, ProviderRow, RouteRow } from './upstream.entity.ts';

/** The record of a provider. */
export function providerRecord(provider: ProviderRow): ProviderRecord {
  return {
    kind: 'PROVIDER',
    id: provider.id,
    name: provider.name,
    protocols: provider.protocols,
    baseUrl: provider.baseUrl,
    timeouts: provider.timeouts,
    concurrencyLimit: provider.concurrencyLimit ?? null,
    allowPrivate: provider.allowPrivate || provider.demo,
    quirks: provider.quirks,
    access: provider.access ?? null,
  };
}

/** The record of a credential without its secret, which is encrypted for each node when it is sent. */
export function credentialRecord(credential: CredentialRow): CredentialRecord {
  return {
    kind: 'CREDENTIAL',
    id: credential.id,
    providerId: credential.providerId,
    origin: credential.origin,
    binding: credential.binding ?? null,
    sealed: '',
  };
}

/** The record of a route. */
export function routeRecord(route: RouteRow): RouteRecord {
  const { id, modelId, providerId, upstreamModel, families, priority, weight, quirks } = route;
  const plain = { id, modelId, providerId, upstreamModel, families, priority, weight, quirks };
  return { kind: 'ROUTE', ...plain, cost: route.cost?.toString() ?? null };
}
