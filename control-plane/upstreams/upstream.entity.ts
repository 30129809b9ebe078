/** Database rows of providers, their encrypted credentials, and the routes from models to providers. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { ProtocolName, Family } from '@gateway/shared/catalog';
import type { Quirk } from '@gateway/shared/quirks';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import type { TimeoutsRecord } from '@gateway/shared/records';

export const ProviderSchema = defineEntity({
  name: 'Provider',
  tableName: 'provider',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    protocols: p.array<ProtocolName>(),
    baseUrl: p.text(),
    enabled: p.boolean(),
    timeouts: p.json<TimeoutsRecord>(),
    concurrencyLimit: p.integer().nullable(),
    /** Whether this is the simulated upstream of a first start, which the first real route deletes. */
    demo: p.boolean().default(false),
    /** Whether private addresses were allowed (ALLOW_PRIVATE_UPSTREAMS) when the provider was saved. */
    allowPrivate: p.boolean().default(false),
    quirks: p.json<Quirk[]>().onCreate(() => []),
    /** Minutes between two scheduled probes; null for none. */
    probeMinutes: p.integer().nullable(),
    /** Null for an API key in the header of the format. */
    access: p.json<UpstreamAccess>().nullable(),
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
    /** The only origin to which it is sent: that of the provider when the credential was added. */
    origin: p.text(),
    /** Its only use besides: see `bindingOf`. Null for secrets that are sent in a header. */
    binding: p.text().nullable(),
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
    /** Average cost of a request for the operator, in micro-USD; null if unknown. */
    cost: p.bigint('bigint').nullable(),
    enabled: p.boolean(),
    quirks: p.json<Quirk[]>().onCreate(() => []),
    createdAt: p.datetime().onCreate(() => new Date()),
    version: p.integer().version(),
  },
});
export type RouteRow = InferEntity<typeof RouteSchema>;
