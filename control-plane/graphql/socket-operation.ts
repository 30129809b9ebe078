/** Parses and validates an operation from a WebSocket, with the same error codes as Apollo's over HTTP. */
import { getOperationAST, getVariableValues, GraphQLError, parse, validate } from 'graphql';
import type { DocumentNode, ExecutionArgs, GraphQLSchema } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { requestError } from './errors.ts';
import type { RequestErrorCode } from './errors.ts';
import { TOKENS_MAX } from '../limits.ts';
import { measureOperation } from './graphql-limits.ts';

/** An operation with its cost, and the errors because of which it cannot run. */
interface SocketOperation {
  args: ExecutionArgs;
  cost: number;
  errors: readonly GraphQLError[];
}

/** Parses the operation, validates it with its variables and measures it. Throws GRAPHQL_PARSE_FAILED. */
export function readOperation(schema: GraphQLSchema, payload: SubscribePayload): SocketOperation {
  const { operationName, variables } = payload;
  const document = parsed(payload.query);
  const args = { schema, document, operationName, variableValues: variables };
  const invalid = validate(schema, document);
  if (invalid.length > 0) return { args, cost: 0, errors: coded(invalid, 'GRAPHQL_VALIDATION_FAILED') };
  const definition = getOperationAST(document, operationName);
  if (!definition) {
    const message = 'The operation is unknown. Set operationName to one of the operations in the document.';
    return { args, cost: 0, errors: [requestError('OPERATION_RESOLUTION_FAILURE', message)] };
  }
  const { errors = [] } = getVariableValues(schema, definition.variableDefinitions ?? [], variables ?? {});
  if (errors.length > 0) return { args, cost: 0, errors: coded(errors, 'BAD_USER_INPUT') };
  return { args, ...measureOperation({ schema, document, operationName, variables }) };
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
