/** Apollo plugin that enforces the limits and budgets of operations over HTTP, and reports their cost. */
import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLFormattedError, GraphQLSchema } from 'graphql';
import type { Context } from '../graphql/context.ts';
import { measureOperation } from '../graphql/graphql-limits.ts';
import { claimantOf } from '../request/callers.ts';
import { cpuMs, spendCpu } from '../request/rates.ts';
import type { Rates } from '../request/rates.ts';
import { budgetHeaders } from './budget.ts';
import type { Budget } from './budget.ts';

/**
 * The plugin. Answers carry `extensions.cost` and RateLimit headers, except for nodes, which have no budget.
 */
export function limitsPlugin(
  schema: GraphQLSchema,
  { budget, reading }: { budget: Budget; reading: Rates },
): ApolloServerPlugin<Context> {
  const timeOf = async ({ contextValue }: { contextValue: Context }): Promise<() => Promise<void>> => {
    const start = cpuMs();
    return async () => reading.spend(claimantOf(contextValue, contextValue.ip), cpuMs() - start);
  };
  return {
    requestDidStart: async () => ({
      parsingDidStart: timeOf,
      validationDidStart: timeOf,
      didResolveOperation: async ({ document, operationName, request, contextValue }) => {
        const { variables } = request;
        const measure = () => measureOperation({ schema, document, operationName, variables });
        const caller = claimantOf(contextValue, contextValue.ip);
        const { cost, errors } = spendCpu(reading, caller, measure);
        if (errors[0]) throw errors[0];
        await chargeTo(budget, contextValue, cost);
      },
      willSendResponse: async ({ contextValue, response }) => {
        const isAway = (error: GraphQLFormattedError) => error.extensions?.['code'] === 'SERVICE_UNAVAILABLE';
        const { body } = response;
        if (body.kind === 'single' && body.singleResult.errors?.some(isAway)) response.http.status = 503;
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

/**
 * Charges the cost to the caller's budget and stores the result in the context. Rejects with RATE_LIMITED.
 */
export async function chargeTo(budget: Budget, context: Context, cost: number): Promise<void> {
  // Each operation has its own context, so it may be changed.
  Object.assign(context, { budget: await budget.charge(context, cost) });
}
