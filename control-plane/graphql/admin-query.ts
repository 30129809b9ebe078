/** The root of all queries for administrators; each domain adds its fields to AdminQuery. */
import 'reflect-metadata';
import { Ctx, ObjectType, Query, Resolver } from 'type-graphql';
import { Public } from './context.ts';
import type { Context } from './context.ts';

/** Queries for administrators. */
@ObjectType({ description: 'Queries for administrators.' })
export class AdminQuery {}

/** Resolves `admin`. */
@Resolver()
export class AdminResolver {
  @Public()
  @Query(() => AdminQuery, { nullable: true, description: 'Null unless the caller is an administrator.' })
  admin(@Ctx() context: Context): AdminQuery | null {
    return context.viewer?.role === 'ADMIN' ? new AdminQuery() : null;
  }
}
