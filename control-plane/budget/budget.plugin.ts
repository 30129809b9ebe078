/** Holds operations over HTTP to their limits and budgets, and tells in each answer what it cost. */
import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLSchema } from 'graphql';
import type { Context } from '../context.ts';
import { weigh } from '../graphql-limits.ts';
import { budgetHeaders } from './budget.ts';
import type { Budget } from './budget.ts';

/** The plugin for Apollo. `extensions.cost` and the RateLimit headers are left out for nodes. */
export function limitsPlugin(schema: GraphQLSchema, budget: Budget): ApolloServerPlugin<Context> {
  return {
    requestDidStart: async () => ({
      didResolveOperation: async ({ document, operationName, request, contextValue }) => {
        const { cost, broken } = weigh({ schema, document, operationName, variables: request.variables });
        if (broken[0]) throw broken[0];
        await chargeTo(budget, contextValue, cost);
      },
      willSendResponse: async ({ contextValue, response }) => {
        const spent = contextValue.budget;
        if (!spent || response.body.kind !== 'single') return;
        const { singleResult } = response.body;
        singleResult.extensions = { ...singleResult.extensions, cost: spent };
        for (const [name, value] of Object.entries(budgetHeaders(spent)))
          response.http.headers.set(name, value);
      },
    }),
  };
}

/** Takes the cost from the budget of who asks, and notes in the context what it was. */
export async function chargeTo(budget: Budget, context: Context, cost: number): Promise<void> {
  // Each operation has a context of its own.
  Object.assign(context, { budget: await budget.charge(context, cost) });
}
