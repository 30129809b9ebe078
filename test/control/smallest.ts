/** The smallest input that a type takes: what may be left out is, and the rest names nothing that exists. */
import { getNullableType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { GraphQLInputType } from 'graphql';

export const NOBODY = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** A value for each scalar that passes its parser. */
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

/** A value of the type that its parser accepts. */
export function smallestOf(type: GraphQLInputType): unknown {
  const inner = getNullableType(type);
  if (isListType(inner)) return [smallestOf(inner.ofType)];
  if (isEnumType(inner)) return inner.getValues()[0]?.name;
  if (isInputObjectType(inner))
    return Object.fromEntries(
      Object.values(inner.getFields())
        .filter((field) => isNonNullType(field.type) && field.defaultValue === undefined)
        .map((field) => [field.name, smallestOf(field.type)]),
    );
  return SCALARS[inner.name];
}
