/** The gateway's base address in the API, for the set-up of clients. */
import 'reflect-metadata';
import { Ctx, Query, Resolver } from 'type-graphql';
import { Public } from './context.ts';
import type { Context } from './context.ts';
import { WebAddress } from './scalars.ts';

/** Resolves the base address. */
@Resolver()
export class AddressResolver {
  @Public()
  @Query(() => WebAddress, {
    description:
      'Base address of API requests, without a slash at the end. Clients of chat completions and ' +
      'responses append /v1.',
  })
  baseAddress(@Ctx() context: Context): string {
    return context.settings.publicUrl;
  }
}
