/** Reads an operation that came over a socket as Apollo reads one over HTTP: each fault has the same code. */
import { getOperationAST, getVariableValues, GraphQLError, parse, validate } from 'graphql';
import type { DocumentNode, ExecutionArgs, GraphQLSchema } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { requestError } from './errors.ts';
import type { RequestErrorCode } from './errors.ts';
import { TOKENS_MAX, weigh } from './graphql-limits.ts';

/** What is executed, what it costs, and the errors for which it cannot run. */
export interface SocketOperation {
  args: ExecutionArgs;
  cost: number;
  errors: readonly GraphQLError[];
}

/** Parsed, checked with its variables, and weighed. Throws a coded error where it does not parse. */
export function readOperation(schema: GraphQLSchema, payload: SubscribePayload): SocketOperation {
  const { operationName, variables } = payload;
  const document = parsed(payload.query);
  const args = { schema, document, operationName, variableValues: variables };
  const invalid = validate(schema, document);
  if (invalid.length > 0) return { args, cost: 0, errors: coded(invalid, 'GRAPHQL_VALIDATION_FAILED') };
  const definition = getOperationAST(document, operationName);
  if (!definition) {
    const message = 'Name one of the operations of the document as operationName.';
    return { args, cost: 0, errors: [requestError('OPERATION_RESOLUTION_FAILURE', message)] };
  }
  const { errors = [] } = getVariableValues(schema, definition.variableDefinitions ?? [], variables ?? {});
  if (errors.length > 0) return { args, cost: 0, errors: coded(errors, 'BAD_USER_INPUT') };
  const { cost, broken } = weigh({ schema, document, operationName, variables });
  return { args, cost, errors: broken };
}

function parsed(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens: TOKENS_MAX });
  } catch (error) {
    const { message, nodes, source, positions } =
      error instanceof GraphQLError ? error : new GraphQLError(String(error));
    const extensions = { code: 'GRAPHQL_PARSE_FAILED' };
    throw new GraphQLError(message, { nodes, source, positions, extensions });
  }
}

function coded(errors: readonly GraphQLError[], code: RequestErrorCode): GraphQLError[] {
  return errors.map(
    ({ message, nodes, source, positions }) =>
      new GraphQLError(message, { nodes, source, positions, extensions: { code } }),
  );
}
