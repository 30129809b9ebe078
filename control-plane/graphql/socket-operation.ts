/** Parses and validates an operation from a WebSocket, with the same error codes as Apollo's over HTTP. */
import { getOperationAST, getVariableValues, GraphQLError, parse, validate } from 'graphql';
import type { DocumentNode, ExecutionArgs, GraphQLSchema } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { requestError } from './errors.ts';
import type { RequestErrorCode } from './errors.ts';
import { REQUEST_MS, TOKENS_MAX } from '../limits.ts';
import { TOO_MUCH_READING } from '../request/rates.ts';
import type { CallerRates } from '../request/rates.ts';
import type { Claimant } from '../request/shares.ts';
import type { Context } from './context.ts';
import { measureOperation } from './graphql-limits.ts';

/** Parts of the application with which operations are prepared. */
interface OperationParts {
  schema: GraphQLSchema;
  rates: CallerRates;
  /** Charges the cost of an operation to the caller's budget. Rejects with RATE_LIMITED. */
  charge(context: Context, cost: number): Promise<void>;
}

const TOO_MUCH_HELD = 'Your open operations take too much memory. Complete some, or send shorter ones.';

/** The sender of an operation. */
interface Sender {
  claimant: Claimant;
  /** Counts the heap of the operation. False if the sender has too much. */
  hold(document: DocumentNode): boolean;
  contextOf(): Promise<Context>;
}

/** The arguments with which an operation is executed, or the errors because of which it is not. */
export async function prepareOperation(
  { schema, rates, charge }: OperationParts,
  payload: SubscribePayload,
  { claimant, hold, contextOf }: Sender,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  try {
    if (!rates.reading.has(claimant)) return [requestError('RATE_LIMITED', TOO_MUCH_READING)];
    rates.reading.spend(claimant, REQUEST_MS);
    const { args, cost, errors } = readOperation(schema, payload);
    if (errors.length > 0) return errors;
    if (!hold(args.document)) return [requestError('RATE_LIMITED', TOO_MUCH_HELD)];
    if (isSubscription(args)) args.document = withoutLocations(payload);
    const contextValue = await contextOf();
    await charge(contextValue, cost);
    return { ...args, contextValue };
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    return [new GraphQLError('Failed', { originalError: asError(error) })];
  }
}

/** An operation with its cost, and the errors because of which it cannot run. */
interface SocketOperation {
  args: ExecutionArgs;
  cost: number;
  errors: readonly GraphQLError[];
}

/** Parses the operation, validates it with its variables and measures it. Throws GRAPHQL_PARSE_FAILED. */
function readOperation(schema: GraphQLSchema, payload: SubscribePayload): SocketOperation {
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

/** Whether the operation of valid arguments is a subscription. */
function isSubscription({ document, operationName }: ExecutionArgs): boolean {
  return getOperationAST(document, operationName)?.operation === 'subscription';
}

/** The document of a valid operation without locations, which take most of its memory. */
function withoutLocations({ query }: SubscribePayload): DocumentNode {
  return parse(query, { maxTokens: TOKENS_MAX, noLocation: true });
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

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
