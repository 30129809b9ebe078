/**
 * Passes a long list of input objects to its resolver without what GraphQL and type-graphql do for each of
 * them. GraphQL would build a path for each member (20 µs for a usage record). type-graphql would make an
 * instance of a class of each object, and search all classes again for each of them (9 µs).
 */
import type { ApolloServerPlugin } from '@apollo/server';
import { getNullableType, isInputObjectType, Kind } from 'graphql';
import type { GraphQLFieldResolver, GraphQLInputType, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { createParameterDecorator } from 'type-graphql';
import type { Context } from './context.ts';
import { quickConverter } from './quick-input.ts';

/** The name of the argument that carries the list to its resolver. No client can send it. */
const PLAIN_LIST = 'plainList';

/** The argument of a mutation. */
const INPUT = 'input';

/** The mutation, and the member of its argument `input` with the list. */
export interface ListPlace {
  mutation: string;
  member: string;
}

interface PlainArguments {
  input: Record<string, unknown>;
}

/** A parameter with the list of the mutation. See `passPlainList`. */
export function PlainList(): ReturnType<typeof createParameterDecorator> {
  return createParameterDecorator(({ args }) => args[PLAIN_LIST]);
}

/** Lets type-graphql convert the input without this list. Throws if there is no such mutation. */
export function passPlainList(schema: GraphQLSchema, { mutation, member }: ListPlace): void {
  const field = schema.getMutationType()?.getFields()[mutation];
  const resolve: GraphQLFieldResolver<unknown, Partial<Context> | undefined, PlainArguments> | undefined =
    field?.resolve;
  if (!field || !resolve) throw new Error(`There is no mutation ${mutation}.`);
  field.resolve = (...call) => {
    const [source, args, context, info] = call;
    const { [member]: list, ...input } = args.input;
    const passed = { ...args, input: { ...input, [member]: [] }, [PLAIN_LIST]: context?.plainList ?? list };
    return resolve(source, passed, context, info);
  };
}

/**
 * Converts the list before GraphQL sees it, if the operation consists of the mutation alone and its input is
 * a variable. A list that cannot be converted is left to GraphQL, which refuses it with a message.
 */
export function plainListPlugin(schema: GraphQLSchema, place: ListPlace): ApolloServerPlugin<Context> {
  const convert = quickConverter(typeOfList(schema, place));
  return {
    requestDidStart: async () => ({
      didResolveOperation: async ({ operation, request, contextValue }) => {
        const name = operation && inputVariableOf(operation, place.mutation);
        const input: unknown = name === undefined ? undefined : request.variables?.[name];
        if (name === undefined || !isObject(input)) return;
        const plainList = converted(convert, input[place.member]);
        if (!plainList) return;
        // Each operation has its own context, so it may be changed.
        Object.assign(contextValue, { plainList });
        request.variables = { ...request.variables, [name]: { ...input, [place.member]: [] } };
      },
    }),
  };
}

/** The type of the list. Throws if the mutation or the member is missing. */
function typeOfList(schema: GraphQLSchema, { mutation, member }: ListPlace): GraphQLInputType {
  const field = schema.getMutationType()?.getFields()[mutation];
  const input = field?.args.find(({ name }) => name === INPUT);
  const type = input && getNullableType(input.type);
  const list = isInputObjectType(type) ? type.getFields()[member] : undefined;
  if (!list) throw new Error(`There is no mutation ${mutation} with a list ${member}.`);
  return list.type;
}

/** The variable that is the input of the mutation, if the operation has no other root field. */
function inputVariableOf({ selectionSet }: OperationDefinitionNode, mutation: string): string | undefined {
  const [field, ...others] = selectionSet.selections;
  if (field?.kind !== Kind.FIELD || field.name.value !== mutation || others.length > 0) return undefined;
  const input = field.arguments?.find(({ name }) => name.value === INPUT);
  return input?.value.kind === Kind.VARIABLE ? input.value.name.value : undefined;
}

/** The converted list; undefined if GraphQL might refuse it. */
function converted(convert: (value: unknown) => unknown, list: unknown): readonly unknown[] | undefined {
  try {
    const result = convert(list);
    return Array.isArray(result) ? result : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
