/**
 * Converts between JSON Schema, which all other formats use, and the OpenAPI subset of Google's `parameters`
 * and `responseSchema`.
 * https://ai.google.dev/api/caching#Schema
 */
import { isObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';

/** Maximum depth to which a schema is converted; deeper schemas stay unchanged. */
const MAX_SCHEMA_DEPTH = 64;

const SNAKE_CASE_KEYWORDS: Readonly<Record<string, string>> = {
  any_of: 'anyOf',
  min_items: 'minItems',
  max_items: 'maxItems',
  min_length: 'minLength',
  max_length: 'maxLength',
  min_properties: 'minProperties',
  max_properties: 'maxProperties',
  property_ordering: 'propertyOrdering',
};

/** Keywords whose values are 64-bit integers, which Google's JSON writes as decimal strings. */
const COUNTS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Keywords with the same meaning in `parameters` and JSON Schema. */
const SHARED_KEYWORDS = new Set(['type', 'description', 'properties', 'required', 'items', 'enum']);

/**
 * Converts a schema of the OpenAPI subset to JSON Schema: types in lower case, `nullable` as type null,
 * properties in the order of `propertyOrdering`.
 */
export function toJsonSchema(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return schema;
  const out: JsonObject = {};
  let nullable = false;
  let ordering: unknown;
  for (const [written, value] of Object.entries(schema)) {
    const keyword = SNAKE_CASE_KEYWORDS[written] ?? written;
    if (keyword === 'nullable') nullable = value === true;
    else if (keyword === 'propertyOrdering') ordering = value;
    else out[keyword] = keywordToJsonSchema(keyword, value, depth + 1);
  }
  if (out.type === undefined) delete out.type;
  if (isObject(out.properties) && Array.isArray(ordering)) out.properties = inOrder(out.properties, ordering);
  return nullable ? withNull(out) : out;
}

function keywordToJsonSchema(keyword: string, value: unknown, depth: number): unknown {
  if (keyword === 'type') return typeToJsonSchema(value);
  if (keyword === 'items') return toJsonSchema(value, depth);
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map((schema) => toJsonSchema(schema, depth));
  if (keyword === 'properties' && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, schema]) => [name, toJsonSchema(schema, depth)]),
    );
  }
  if (COUNTS.has(keyword) && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  return value;
}

function typeToJsonSchema(type: unknown): unknown {
  if (typeof type === 'string') return type === 'TYPE_UNSPECIFIED' ? undefined : type.toLowerCase();
  return Array.isArray(type) ? type.map(typeToJsonSchema) : type;
}

function inOrder(properties: JsonObject, ordering: unknown[]): JsonObject {
  const first = ordering.filter(
    (name): name is string => typeof name === 'string' && Object.hasOwn(properties, name),
  );
  return Object.fromEntries([
    ...first.map((name) => [name, properties[name]] as const),
    ...Object.entries(properties),
  ]);
}

function withNull(schema: JsonObject): JsonObject {
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] };
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  if (types.length === 0 || types.includes('null')) return schema;
  const nullable: JsonObject = { ...schema, type: [...types, 'null'] };
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) nullable.enum = [...schema.enum, null];
  return nullable;
}

/**
 * Whether a JSON Schema has the same meaning in `parameters`, which all models and compatible servers read.
 * Other schemas go to `parametersJsonSchema`; so do objects without properties, which `parameters` does not
 * allow.
 */
export function fitsOpenApi(schema: unknown, depth = 0): boolean {
  if (!isObject(schema) || depth > MAX_SCHEMA_DEPTH) return false;
  if (typeof schema.type !== 'string' || schema.type === 'null') return false;
  if (schema.type === 'object' && !hasProperties(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (!SHARED_KEYWORDS.has(keyword)) return false;
    if (keyword === 'items') return fitsOpenApi(value, depth + 1);
    if (keyword === 'properties')
      return isObject(value) && Object.values(value).every((each) => fitsOpenApi(each, depth + 1));
    if (keyword === 'enum') return Array.isArray(value) && value.every((each) => typeof each === 'string');
    return true;
  });
}

/** Whether a schema has at least one property. */
export function hasProperties(schema: JsonObject): boolean {
  return isObject(schema.properties) && Object.keys(schema.properties).length > 0;
}
