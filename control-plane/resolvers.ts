/** Every resolver class of the API. */
import type { NonEmptyArray } from 'type-graphql';
import { AccountResolver, SessionResolver } from './accounts/account.resolver.ts';
import { AdminResolver } from './admin-query.ts';
import { AuditResolver } from './audit/audit.resolver.ts';
import { CatalogResolver } from './catalog/catalog.resolver.ts';
import { KeyFields } from './keys/key.fields.ts';
import { AdminKeysResolver, UserKeysResolver } from './keys/key.lists.ts';
import { KeyResolver } from './keys/key.resolver.ts';

export const resolvers: NonEmptyArray<new () => object> = [
  AccountResolver, SessionResolver, AdminResolver, AuditResolver, CatalogResolver,
  KeyResolver, KeyFields, UserKeysResolver, AdminKeysResolver,
];
