/** Builds the smallest valid value of any GraphQL input type. Ids in it belong to no object. */
import { getNullableType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { GraphQLInputType } from 'graphql';

export const NOBODY = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** A valid value of each scalar. */
const SCALARS: Readonly<Record<string, unknown>> = {
  ID: NOBODY,
  String: 'x',
  Int: 1,
  Boolean: false,
  Money: '0.5',
  Decimal: '1',
  DateTime: '2026-01-01T00:00:00.000Z',
  EmailAddress: 'nobody@example.com',
  URL: 'http://127.0.0.1:1',
  JSON: {},
};

/** A valid value of the type, without its optional fields. */
export function smallestInput(type: GraphQLInputType): unknown {
  const inner = getNullableType(type);
  if (isListType(inner)) return [smallestInput(inner.ofType)];
  if (isEnumType(inner)) return inner.getValues()[0]?.name;
  if (isInputObjectType(inner))
    return Object.fromEntries(
      Object.values(inner.getFields())
        .filter((field) => isNonNullType(field.type) && field.defaultValue === undefined)
        .map((field) => [field.name, smallestInput(field.type)]),
    );
  return SCALARS[inner.name];
}
