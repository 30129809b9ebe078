/** The root of everything that administrators read; each domain adds its own fields. */
import 'reflect-metadata';
import { Ctx, ObjectType, Query, Resolver } from 'type-graphql';
import { Public } from './context.ts';
import type { Context } from './context.ts';

/** What administrators read. */
@ObjectType({ description: 'What administrators read.' })
export class AdminQuery {}

/** The door to it. */
@Resolver()
export class AdminResolver {
  @Public()
  @Query(() => AdminQuery, { nullable: true, description: 'Null unless the caller is an administrator.' })
  admin(@Ctx() context: Context): AdminQuery | null {
    return context.viewer?.role === 'ADMIN' ? new AdminQuery() : null;
  }
}
