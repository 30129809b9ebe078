/** Builds the executable GraphQL schema from the resolvers of all domains, with access rules. */
import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { guard } from '../graphql/access.ts';
import { checkAccess, fieldsWithoutRule } from '../graphql/context.ts';
import { passPlainList } from '../graphql/plain-list.ts';
import type { Bus } from '../database/events.ts';
import { resolvers } from './resolvers.ts';

/** The records of a usage report: up to 500, several times a second. */
export const USAGE_RECORDS = { mutation: 'nodeUsageReport', member: 'records' };

/**
 * The executable schema. Throws if a root field has neither `Authorized` nor `Public`, or a field has no
 * rule.
 */
export function createSchema(bus: Bus): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers,
    authChecker: checkAccess,
    validate: false,
    // The check introspects the schema, which takes a third of a second; schema.test.ts does it instead.
    skipCheck: true,
    pubSub: { publish: refuseToPublish, subscribe: subscribeTo(bus) },
  });
  passPlainList(schema, USAGE_RECORDS);
  const unruled = fieldsWithoutRule(schema);
  if (unruled.length > 0)
    throw new Error(`Root fields without a role: ${unruled.join(', ')}. Add @Authorized or @Public.`);
  guard(schema);
  return schema;
}

function subscribeTo(bus: Bus) {
  return (topic: string, audience?: unknown): AsyncIterable<unknown> => {
    if (typeof audience !== 'string')
      throw new TypeError(`The subscription to ${topic} names no audience. Set topicId.`);
    return bus.subscribe(topic, audience);
  };
}

/** Events go through the database, in the transaction of the change, so that every process receives them. */
function refuseToPublish(): never {
  throw new Error('Use publish() of database/events.ts.');
}
