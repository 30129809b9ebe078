/** Database rows of access tokens. They hold a digest, never the token. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { AccessScope } from '../graphql/enums.ts';

export const AccessTokenSchema = defineEntity({
  name: 'AccessToken',
  tableName: 'access_token',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    name: p.text(),
    prefix: p.text(),
    tokenDigest: p.text(),
    scopes: p.array<AccessScope>(),
    createdAt: p.datetime().onCreate(() => new Date()),
    lastUsedAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
    revokedAt: p.datetime().nullable(),
  },
});
export type AccessTokenRow = InferEntity<typeof AccessTokenSchema>;
