/** Apollo plugin that traces operations over HTTP by their root fields and names, and settlement. */
import type { ApolloServerPlugin } from '@apollo/server';
import { Kind } from 'graphql';
import type { OperationDefinitionNode } from 'graphql';
import type { Span, Tracing } from '@gateway/shared/tracing';
import type { Context } from '../graphql/context.ts';

/** Root fields that a span names. */
const FIELDS_MAX = 5;
/** Characters of an operation's name, which clients choose. */
const NAME_LENGTH_MAX = 60;
/** The root field with which nodes settle charges. */
const SETTLEMENT = 'nodeUsageReport';

/** The plugin. Spans hold no variables, no results and no text of errors. */
export function tracingPlugin(tracing: Tracing): ApolloServerPlugin<Context> {
  return {
    requestDidStart: async ({ request, contextValue }) => {
      let span: Span | undefined;
      return {
        didResolveOperation: async ({ operation, operationName }) => {
          if (!operation) return;
          const fields = rootFieldsOf(operation);
          const name = fields[0] === SETTLEMENT ? 'settlement' : `${operation.operation} ${fields[0] ?? ''}`;
          const attributes = {
            'graphql.operation.type': operation.operation,
            'graphql.operation.fields': fields.join(' '),
            'gateway.request.id': contextValue.requestId,
            ...(operationName && { 'graphql.operation.name': operationName.slice(0, NAME_LENGTH_MAX) }),
          };
          const traceparent = request.http?.headers.get('traceparent');
          span = tracing.begin({ name, kind: 'SERVER', attributes }, traceparent);
        },
        willSendResponse: async ({ response: { body } }) => {
          const [error] = (body.kind === 'single' ? body.singleResult.errors : undefined) ?? [];
          const code = error?.extensions?.['code'];
          span?.end({}, error && (typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR'));
        },
      };
    },
  };
}

/** The names of the first root fields, which the schema fixes. */
function rootFieldsOf({ selectionSet }: OperationDefinitionNode): string[] {
  return selectionSet.selections
    .flatMap((selection) => (selection.kind === Kind.FIELD ? [selection.name.value] : []))
    .slice(0, FIELDS_MAX);
}
