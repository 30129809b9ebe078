/** Enforces the access rules of fields: scopes of access tokens, and re-authentication of browsers. */
import 'reflect-metadata';
import { defaultFieldResolver, getNamedType, isInterfaceType, isObjectType, isUnionType } from 'graphql';
import type { GraphQLField, GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { FIELD_RULES } from './access.rules.ts';
import { TYPE_RULES } from './access.types.ts';
import { SENSITIVE } from './sensitive.fields.ts';
import type { TokenRule } from './access.rules.ts';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';

/** How long after an authentication a browser may use sensitive fields without authenticating again. */
const FRESH_MS = 15 * 60_000;

/** Types of which FIELD_RULES lists every field, except fields for nodes: node tokens have no scopes. */
const LISTED: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription', 'AdminQuery']);

/** Wraps the schema's resolvers with the checks of their rules. Throws if a field or type has no rule. */
export function guard(schema: GraphQLSchema): void {
  const missing = new Set<string>();
  for (const [parent, field] of fieldsOf(schema)) {
    const rule = ruleOf(parent, field);
    if (rule === undefined) missing.add(missingName(parent, field));
    else if (rule !== 'ANY' || SENSITIVE.has(coordinateOf(parent, field)))
      protect(field, coordinateOf(parent, field), rule);
  }
  if (missing.size > 0)
    throw new Error(`No access rule for ${[...missing].join(', ')}. Add one in graphql/access.rules.ts.`);
}

/** Throws FORBIDDEN if the caller uses an access token whose scopes do not allow objects of this type. */
export function requireTypeAccess(context: Context, typeName: string): void {
  requireScope(context, TYPE_RULES[typeName] ?? 'BROWSER');
}

/** The access token rule of a field; undefined if the field needs one and has none. */
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

/** The time until which a session that was authenticated then may use sensitive fields. */
export function freshUntil(authenticatedAt: Date): Date {
  return new Date(authenticatedAt.getTime() + FRESH_MS);
}

/**
 * Types whose fields need no rule, because the field that returns them was checked: payloads and list pages.
 */
function isTransparent(typeName: string): boolean {
  return /(Payload|Connection|Edge)$/.test(typeName) || /^(Config|LeaseRecall)/.test(typeName);
}

function protect(field: GraphQLField<unknown, Context>, name: string, rule: TokenRule): void {
  const { resolve = defaultFieldResolver, subscribe } = field;
  const check = (context: Context): void => {
    requireScope(context, rule);
    if (SENSITIVE.has(name)) requireFresh(context);
  };
  field.resolve = checkedFirst(check, resolve);
  if (subscribe) field.subscribe = checkedFirst(check, subscribe);
}

/** Runs the check before a resolver; `resolve` and `subscribe` both get the context as third parameter. */
function checkedFirst(
  check: (context: Context) => void,
  inner: GraphQLFieldResolver<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> {
  return (...parameters) => {
    check(parameters[2]);
    return inner(...parameters);
  };
}

function requireScope({ viewer }: Context, rule: TokenRule): void {
  if (!viewer?.token || rule === 'ANY') return;
  const { scopes } = viewer.token;
  if (rule === 'BROWSER') throw requestError('FORBIDDEN', 'Access tokens cannot do this. Use the console.');
  const wanted = typeof rule === 'string' ? [rule] : rule;
  if (wanted.some((scope) => scopes.includes(scope))) return;
  const message = `This access token lacks the scope ${wanted.join(' or ')}. Create one that has it.`;
  throw requestError('FORBIDDEN', message, { requiredScope: wanted[0] });
}

function requireFresh({ viewer }: Context): void {
  if (!viewer?.session || freshUntil(viewer.session.authenticatedAt) > new Date()) return;
  throw requestError('REAUTH_REQUIRED', 'Authenticate again with reauthenticate, then repeat this.');
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
