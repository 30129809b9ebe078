/** Every resolver class of the API. */
import type { NonEmptyArray } from 'type-graphql';
import { AccountResolver, SessionResolver } from './accounts/account.resolver.ts';

export const resolvers: NonEmptyArray<new () => object> = [
  AccountResolver, SessionResolver,
];
