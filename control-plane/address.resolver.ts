/** Where the gateway is, for people who set up a client. */
import 'reflect-metadata';
import { Ctx, Query, Resolver } from 'type-graphql';
import { Public } from './context.ts';
import type { Context } from './context.ts';
import { WebAddress } from './scalars.ts';

/** The base address. */
@Resolver()
export class AddressResolver {
  @Public()
  @Query(() => WebAddress, {
    description: 'The base address of all requests, without a slash at the end; chat clients add /v1 to it.',
  })
  baseAddress(@Ctx() context: Context): string {
    return context.settings.publicUrl;
  }
}
