/** Rows of providers, their sealed credentials, and routes from models to them. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { DialectName, Family } from '@gateway/shared/catalog';
import type { TimeoutsRecord } from '@gateway/shared/records';

export const ProviderSchema = defineEntity({
  name: 'Provider',
  tableName: 'provider',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    protocols: p.array<DialectName>(),
    baseUrl: p.text(),
    enabled: p.boolean(),
    timeouts: p.json<TimeoutsRecord>(),
    concurrencyLimit: p.integer().nullable(),
    /** The simulated upstream of a first start; goes with the first real route. */
    demo: p.boolean().default(false),
    /** Set at save while the operator allows upstreams on private addresses. */
    allowPrivate: p.boolean().default(false),
    createdAt: p.datetime().onCreate(() => new Date()),
    version: p.integer().version(),
  },
});
export type ProviderRow = InferEntity<typeof ProviderSchema>;

export const CredentialSchema = defineEntity({
  name: 'Credential',
  tableName: 'credential',
  properties: {
    id: p.text().primary(),
    providerId: p.text(),
    label: p.text(),
    suffix: p.text(),
    sealed: p.text(),
    /** The only origin it is ever sent to: the provider's at the time it was set. */
    origin: p.text(),
    enabled: p.boolean().default(true),
    createdAt: p.datetime().onCreate(() => new Date()),
  },
});
export type CredentialRow = InferEntity<typeof CredentialSchema>;

export const RouteSchema = defineEntity({
  name: 'Route',
  tableName: 'route',
  properties: {
    id: p.text().primary(),
    modelId: p.text(),
    providerId: p.text(),
    upstreamModel: p.text(),
    families: p.array<Family>(),
    priority: p.integer(),
    weight: p.integer(),
    enabled: p.boolean(),
    createdAt: p.datetime().onCreate(() => new Date()),
    version: p.integer().version(),
  },
});
export type RouteRow = InferEntity<typeof RouteSchema>;
