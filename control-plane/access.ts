/** What access tokens may reach, and what asks a browser to prove again who sits there. */
import 'reflect-metadata';
import { defaultFieldResolver, getNamedType, isInterfaceType, isObjectType, isUnionType } from 'graphql';
import type { GraphQLField, GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { FIELD_RULES, SENSITIVE, TYPE_RULES } from './access.rules.ts';
import type { TokenRule } from './access.rules.ts';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';

/** After this long a sensitive act of a browser needs the password again. */
const FRESH_MS = 15 * 60_000;

/** Roots, whose every field is listed; fields for nodes are not, for a node's token has no scopes. */
const LISTED: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription', 'AdminQuery']);

/** Puts the rules in front of the schema's resolvers. Throws for a field or type without one. */
export function guard(schema: GraphQLSchema): void {
  const missing = new Set<string>();
  for (const [parent, field] of fieldsOf(schema)) {
    const rule = ruleOf(parent, field);
    if (rule === undefined) missing.add(missingName(parent, field));
    else if (rule !== 'ANY' || SENSITIVE.has(coordinateOf(parent, field)))
      protect(field, coordinateOf(parent, field), rule);
  }
  if (missing.size > 0) throw new Error(`Without a rule for access tokens: ${[...missing].join(', ')}.`);
}

/** Throws FORBIDDEN where a token asks for an object of a type that its scopes do not reach. */
export function admitToType(context: Context, typeName: string): void {
  admit(context, TYPE_RULES[typeName] ?? 'BROWSER');
}

/** The rule for tokens of a field that is no plain value; undefined where nobody wrote one. */
export function ruleOf(
  parent: GraphQLObjectType,
  field: GraphQLField<unknown, Context>,
): TokenRule | undefined {
  const listed = FIELD_RULES[coordinateOf(parent, field)];
  if (listed) return listed;
  if (field.extensions['access'] === 'NODE') return 'ANY';
  if (LISTED.has(parent.name)) return undefined;
  const named = getNamedType(field.type);
  const isObject = isObjectType(named) || isInterfaceType(named) || isUnionType(named);
  if (!isObject || isTransparent(parent.name)) return 'ANY';
  return TYPE_RULES[named.name.replace(/(Connection|Edge)$/, '')];
}

/** Whether sensitive acts still need no second proof in the session of this browser. */
export function freshUntil(authenticatedAt: Date): Date {
  return new Date(authenticatedAt.getTime() + FRESH_MS);
}

/** Payloads answer a mutation that was allowed; the pages of a list, a list that was. */
function isTransparent(typeName: string): boolean {
  return /(Payload|Connection|Edge)$/.test(typeName) || /^(Config|LeaseRecall)/.test(typeName);
}

function protect(field: GraphQLField<unknown, Context>, name: string, rule: TokenRule): void {
  const { resolve = defaultFieldResolver, subscribe } = field;
  const check = (context: Context): void => {
    admit(context, rule);
    if (SENSITIVE.has(name)) demandFresh(context);
  };
  field.resolve = checkedFirst(check, resolve);
  if (subscribe) field.subscribe = checkedFirst(check, subscribe);
}

/** graphql hands source, arguments, context and details to both resolve and subscribe. */
function checkedFirst(
  check: (context: Context) => void,
  inner: GraphQLFieldResolver<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> {
  return (...parameters) => {
    check(parameters[2]);
    return inner(...parameters);
  };
}

function admit({ viewer }: Context, rule: TokenRule): void {
  if (!viewer?.token || rule === 'ANY') return;
  const { scopes } = viewer.token;
  if (rule === 'BROWSER') throw requestError('FORBIDDEN', 'Access tokens cannot do that; use the console.');
  const wanted = typeof rule === 'string' ? [rule] : rule;
  if (wanted.some((scope) => scopes.includes(scope))) return;
  throw requestError('FORBIDDEN', `This access token lacks the scope ${wanted.join(' or ')}.`, {
    requiredScope: wanted[0],
  });
}

function demandFresh({ viewer }: Context): void {
  if (!viewer?.session || freshUntil(viewer.session.authenticatedAt) > new Date()) return;
  throw requestError('REAUTH_REQUIRED', 'Prove again who you are, then repeat this.');
}

function fieldsOf(schema: GraphQLSchema): [GraphQLObjectType, GraphQLField<unknown, Context>][] {
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type))
    .filter((type) => !type.name.startsWith('__'))
    .flatMap((type) =>
      Object.values(type.getFields()).map((field): [GraphQLObjectType, GraphQLField<unknown, Context>] => [
        type,
        field,
      ]),
    );
}

function coordinateOf(parent: GraphQLObjectType, field: GraphQLField<unknown, Context>): string {
  return `${parent.name}.${field.name}`;
}

function missingName(parent: GraphQLObjectType, field: GraphQLField<unknown, Context>): string {
  return LISTED.has(parent.name) ? coordinateOf(parent, field) : getNamedType(field.type).name;
}
