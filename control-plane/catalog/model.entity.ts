/** Database rows of the catalog: models, and the price ratio of each billing group. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { Family, Group, Tier, Trait } from '@gateway/shared/catalog';
import type { ModelLimitsRecord } from '@gateway/shared/records';
import type { RoutingPolicy } from '@gateway/shared/routing';

export type ModelState = 'DRAFT' | 'PUBLISHED' | 'DEPRECATED' | 'RETIRED';

export const ModelSchema = defineEntity({
  name: 'Model',
  tableName: 'model',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    displayName: p.text(),
    description: p.text(),
    tier: p.text().$type<Tier>(),
    traits: p.array<Trait>(),
    contextTokens: p.integer(),
    maxOutputTokens: p.integer().nullable(),
    inputModalities: p.array<string>(),
    outputModalities: p.array<string>(),
    /** Price of one request in micro-USD, before the group's ratio. */
    price: p.bigint('bigint'),
    groups: p.array<Group>(),
    families: p.array<Family>(),
    limits: p.json<ModelLimitsRecord>(),
    /** Whether nodes send parts of requests that they do not know to upstreams of the same format. */
    passUnknown: p.boolean().default(false),
    /** Whether upstreams of the model may store responses, conversations and cached contents on request. */
    storesState: p.boolean().default(false),
    /** How long they store them at most, in days. */
    stateRetentionDays: p.integer().default(30),
    routing: p.text().$type<RoutingPolicy>().default('FIXED'),
    /** Whether a second upstream may be asked while the first one is slow. */
    hedged: p.boolean().default(false),
    state: p.text().$type<ModelState>(),
    /** Position in lists of the catalog. */
    position: p.integer(),
    deprecatedAt: p.datetime().nullable(),
    retiresAt: p.datetime().nullable(),
    replacementId: p.text().nullable(),
    deprecationNote: p.text().nullable(),
    createdAt: p.datetime().onCreate(() => new Date()),
    updatedAt: p
      .datetime()
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
    version: p.integer().version(),
  },
});
export type ModelRow = InferEntity<typeof ModelSchema>;

export const GroupRatioSchema = defineEntity({
  name: 'GroupRatio',
  tableName: 'group_ratio',
  properties: {
    name: p.text().$type<Group>().primary(),
    /** Ten-thousandths: 9000n is 0.9. */
    ratio: p.bigint('bigint'),
    description: p.text().nullable(),
    updatedAt: p
      .datetime()
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
    version: p.integer().version(),
  },
});
export type GroupRatioRow = InferEntity<typeof GroupRatioSchema>;
