/** The traffic of upstreams and nodes on the API, for administrators only. */
import 'reflect-metadata';
import { Args, Ctx, FieldResolver, Resolver } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import type { Context } from '../graphql/context.ts';
import { requestError, UserFailure } from '../graphql/errors.ts';
import { trafficOf } from './traffic.service.ts';
import type { TrafficView } from './traffic.service.ts';
import { Traffic, TrafficArguments } from './traffic.types.ts';

/** The query of traffic. */
@Resolver(() => AdminQuery)
export class TrafficResolver {
  @FieldResolver(() => Traffic, { description: 'Requests, failures and times of upstreams or nodes.' })
  async traffic(
    @Ctx() { em }: Context,
    @Args(() => TrafficArguments) { subject, ids, range, bucket }: TrafficArguments,
  ): Promise<TrafficView> {
    try {
      return await trafficOf(em, { subject, ids: ids ?? null, range, bucket });
    } catch (error) {
      if (error instanceof UserFailure) throw requestError('BAD_USER_INPUT', error.message);
      throw error;
    }
  }
}
