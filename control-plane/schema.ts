/**
 * Puts the schema together from the resolvers of all domains, and refuses it where a root field has no access
 * rule.
 */
import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { guard } from './access.ts';
import { checkAccess, fieldsWithoutRule } from './context.ts';
import type { Bus } from './events.ts';
import { resolvers } from './resolvers.ts';

/** The executable schema. Throws when a root field is neither `Authorized` nor `Public`. */
export function createSchema(bus: Bus): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers,
    authChecker: checkAccess,
    validate: false,
    // It would introspect the schema, a third of a second at each start; schema.test.ts does.
    skipCheck: true,
    pubSub: { publish: refuseToPublish, subscribe: subscribeTo(bus) },
  });
  const unruled = fieldsWithoutRule(schema);
  if (unruled.length > 0) throw new Error(`Root fields without an access rule: ${unruled.join(', ')}.`);
  guard(schema);
  return schema;
}

function subscribeTo(bus: Bus) {
  return (topic: string, audience?: unknown): AsyncIterable<unknown> => {
    if (typeof audience !== 'string') throw new TypeError(`The subscription to ${topic} names no audience.`);
    return bus.subscribe(topic, audience);
  };
}

/**
 * Resolvers announce by `publish` of events.ts, in the transaction of the change; nothing bypasses the
 * database.
 */
function refuseToPublish(): never {
  throw new Error('Publish through events.ts.');
}
