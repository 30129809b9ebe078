/** What of a changed API breaks clients of the released one, and when something announced may go. */
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

/** From the release that announces the end of something to its end, at least. */
export const NOTICE_DAYS = 180;
const DAY_MS = 24 * 60 * 60_000;
const REMOVAL = /Removed after (\d{4}-\d{2}-\d{2})\.$/;

/**
 * The changes from the released schema (as SDL) to this one that a client could notice without having asked
 * for it, one readable line each. What was released as deprecated may go once its day has passed.
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

/** Deprecations whose reason does not end by naming the day of removal, as `Type.field: reason`. */
export function undatedDeprecations(schema: GraphQLSchema): string[] {
  return deprecationsOf(schema)
    .filter(({ reason }) => !REMOVAL.test(reason))
    .map(({ name, reason }) => `${name}: ${reason}`);
}

/** Deprecations that the released schema (as SDL) does not know yet and that give too little notice. */
export function hastyDeprecations(released: string, now: GraphQLSchema, today: Date): string[] {
  const known = new Set(deprecationsOf(buildASTSchema(parse(released))).map(({ name }) => name));
  const earliest = new Date(today.getTime() + NOTICE_DAYS * DAY_MS);
  return deprecationsOf(now)
    .filter(({ name, reason }) => !known.has(name) && !(endOf(reason) >= earliest))
    .map(({ name, reason }) => `${name}: ${reason}`);
}

/** An invalid date, which no comparison is true of, where none is named. */
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
  // Null deletes a node, undefined leaves it.
  const drop = ({ directives = [] }: Deprecable): null | undefined =>
    directives.some((directive) => endOf(reasonOf(directive)) < today) ? null : undefined;
  return visit(document, { FieldDefinition: drop, EnumValueDefinition: drop, InputValueDefinition: drop });
}

function reasonOf({ name, arguments: given = [] }: ConstDirectiveNode): string {
  const value = name.value === 'deprecated' ? given[0]?.value : undefined;
  return value?.kind === Kind.STRING ? value.value : '';
}

/** Without the types that only something ended led to. */
function reachable(schema: GraphQLSchema): GraphQLSchema {
  const { types: _, ...config } = schema.toConfig();
  const first = new GraphQLSchema({ ...config, types: [] });
  const implementations = Object.values(first.getTypeMap())
    .filter((type) => isInterfaceType(type))
    .flatMap((type) => schema.getPossibleTypes(type));
  return new GraphQLSchema({ ...config, types: implementations });
}
