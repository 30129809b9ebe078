/**
 * Converts input objects as GraphQL does, but without the path of each member, which GraphQL needs only for
 * the messages of errors: 9 instead of 23 µs for a usage record.
 */
import { isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { GraphQLEnumType, GraphQLInputObjectType, GraphQLInputType } from 'graphql';

type Convert = (value: unknown) => unknown;

interface Member {
  name: string;
  isRequired: boolean;
  fallback: unknown;
  convert: Convert;
}

/**
 * The function that converts values of the type. It throws an Error for each value that GraphQL refuses, and
 * for a single value in place of a list, which GraphQL accepts. Throws for a type that demands exactly one of
 * its members. A type must not contain itself.
 */
export function quickConverter(type: GraphQLInputType): Convert {
  if (isNonNullType(type)) return required(quickConverter(type.ofType));
  if (isListType(type)) return listOf(quickConverter(type.ofType));
  if (isInputObjectType(type)) return objectOf(type);
  if (isEnumType(type)) return oneOf(type);
  return optional((value) => {
    const parsed: unknown = type.parseValue(value);
    if (parsed === undefined) throw new TypeError(`The value is no ${type.name}.`);
    return parsed;
  });
}

/** A map finds a text that was just read faster than an object, which first looks for an equal name. */
function oneOf(type: GraphQLEnumType): Convert {
  const values = new Map<unknown, unknown>(type.getValues().map(({ name, value }) => [name, value]));
  return optional((name) => {
    const value = values.get(name);
    if (value === undefined) throw new TypeError(`The value is no ${type.name}.`);
    return value;
  });
}

function required(convert: Convert): Convert {
  return (value) => {
    if (value === null || value === undefined) throw new TypeError('A required value is missing.');
    return convert(value);
  };
}

function optional(convert: Convert): Convert {
  return (value) => (value === null ? null : convert(value));
}

function listOf(convert: Convert): Convert {
  return optional((value) => {
    if (!Array.isArray(value)) throw new TypeError('The value is no list.');
    return value.map(convert);
  });
}

function objectOf(type: GraphQLInputObjectType): Convert {
  if (type.isOneOf) throw new TypeError(`${type.name} cannot be converted quickly.`);
  const members = Object.values(type.getFields()).map((field): Member => {
    const isRequired = isNonNullType(field.type);
    return {
      name: field.name,
      isRequired,
      fallback: field.defaultValue,
      convert: quickConverter(field.type),
    };
  });
  return optional((value) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw new TypeError('The value is no object.');
    return convertMembers(members, value as Record<string, unknown>);
  });
}

/**
 * A copy of the object in which only those members are written whose value changes. An object that gets more
 * than a dozen members one by one becomes a hash table, which is slow to fill and to read.
 */
function convertMembers(members: readonly Member[], value: Record<string, unknown>): Record<string, unknown> {
  const converted = { ...value };
  let known = 0;
  for (const { name, isRequired, fallback, convert } of members) {
    const given = value[name];
    if (given !== undefined) {
      const result = convert(given);
      if (result !== given) converted[name] = result;
      known += 1;
    } else if (fallback !== undefined) converted[name] = fallback;
    else if (isRequired) throw new TypeError(`The value has no ${name}.`);
  }
  if (known !== Object.keys(value).length) throw new TypeError('The value has an unknown member.');
  return converted;
}
