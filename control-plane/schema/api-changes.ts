/**
 * Finds changes of the API that break clients of the released schema, and deprecations with too little
 * notice.
 */
import {
  buildASTSchema,
  DangerousChangeType,
  findBreakingChanges,
  findDangerousChanges,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  visit,
} from 'graphql';
import type {
  ConstDirectiveNode,
  DocumentNode,
  EnumValueDefinitionNode,
  FieldDefinitionNode,
  InputValueDefinitionNode,
} from 'graphql';

/** Minimum number of days from the release with a deprecation to the removal. */
export const NOTICE_DAYS = 180;
const DAY_MS = 24 * 60 * 60_000;
const REMOVAL = /Removed after (\d{4}-\d{2}-\d{2})\.$/;

/**
 * The breaking changes from the released schema (SDL) to this one, one line each, including changed defaults
 * of arguments. Removing something is allowed after the removal day of its released deprecation.
 */
export function breakingChanges(released: string, now: GraphQLSchema, today: Date): string[] {
  const kept = reachable(buildASTSchema(withoutEnded(parse(released), today)));
  const silent = findDangerousChanges(kept, now).filter(
    ({ type }) => type === DangerousChangeType.ARG_DEFAULT_VALUE_CHANGE,
  );
  return [...findBreakingChanges(kept, now), ...silent].map(
    ({ type, description }) => `${type}: ${description}`,
  );
}

/** Deprecations whose reason does not end with "Removed after YYYY-MM-DD.", as `Type.field: reason`. */
export function undatedDeprecations(schema: GraphQLSchema): string[] {
  return deprecationsOf(schema)
    .filter(({ reason }) => !REMOVAL.test(reason))
    .map(({ name, reason }) => `${name}: ${reason}`);
}

/** Deprecations missing in the released schema (SDL) that give less than NOTICE_DAYS of notice or no day. */
export function hastyDeprecations(released: string, now: GraphQLSchema, today: Date): string[] {
  const known = new Set(deprecationsOf(buildASTSchema(parse(released))).map(({ name }) => name));
  const earliest = new Date(today.getTime() + NOTICE_DAYS * DAY_MS);
  return deprecationsOf(now)
    .filter(({ name, reason }) => !known.has(name) && !(endOf(reason) >= earliest))
    .map(({ name, reason }) => `${name}: ${reason}`);
}

/** The removal day; an invalid date, for which every comparison is false, if the reason names none. */
function endOf(reason: string): Date {
  return new Date(REMOVAL.exec(reason)?.[1] ?? Number.NaN);
}

interface Deprecation {
  /** The coordinate, e.g. `User.name` or `Query.usage(first:)`. */
  name: string;
  reason: string;
}

function deprecationsOf(schema: GraphQLSchema): Deprecation[] {
  const found: Deprecation[] = [];
  const look = (
    name: string,
    { deprecationReason }: { deprecationReason?: string | null | undefined },
  ): void => {
    if (deprecationReason != null) found.push({ name, reason: deprecationReason });
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) look(`${type.name}.${field.name}`, field);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      look(`${type.name}.${field.name}`, field);
      for (const argument of field.args) look(`${type.name}.${field.name}(${argument.name}:)`, argument);
    }
  }
  return found;
}

type Deprecable = FieldDefinitionNode | EnumValueDefinitionNode | InputValueDefinitionNode;

function withoutEnded(document: DocumentNode, today: Date): DocumentNode {
  // A visitor deletes an AST node by returning null, and keeps it by returning undefined.
  const drop = ({ directives = [] }: Deprecable): null | undefined =>
    directives.some((directive) => endOf(reasonOf(directive)) < today) ? null : undefined;
  return visit(document, { FieldDefinition: drop, EnumValueDefinition: drop, InputValueDefinition: drop });
}

function reasonOf({ name, arguments: given = [] }: ConstDirectiveNode): string {
  const value = name.value === 'deprecated' ? given[0]?.value : undefined;
  return value?.kind === Kind.STRING ? value.value : '';
}

/** The schema without types that nothing refers to any more. */
function reachable(schema: GraphQLSchema): GraphQLSchema {
  const { types: _, ...config } = schema.toConfig();
  const first = new GraphQLSchema({ ...config, types: [] });
  const implementations = Object.values(first.getTypeMap())
    .filter((type) => isInterfaceType(type))
    .flatMap((type) => schema.getPossibleTypes(type));
  return new GraphQLSchema({ ...config, types: implementations });
}
