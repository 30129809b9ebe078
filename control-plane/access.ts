/** What access tokens may reach, and what asks a browser to prove again who sits there: one table for all. */
import 'reflect-metadata';
import { defaultFieldResolver, getNamedType, isInterfaceType, isObjectType, isUnionType } from 'graphql';
import type { GraphQLField, GraphQLFieldResolver, GraphQLObjectType, GraphQLSchema } from 'graphql';
import type { Context } from './context.ts';
import type { AccessScope } from './enums.ts';
import { requestError } from './errors.ts';

/** Any token, none at all, or one that has this scope or one of these. */
export type TokenRule = 'ANY' | 'BROWSER' | AccessScope | readonly AccessScope[];

/** After this long a sensitive act of a browser needs the password again. */
const FRESH_MS = 15 * 60_000;

/** Browsers prove again who sits there before these; scripts are bound by their scopes instead. */
const SENSITIVE: ReadonlySet<string> = new Set([
  'Mutation.accessTokenCreate',
  'Mutation.totpEnrol',
  'Mutation.adminCredentialAdd',
  'Mutation.adminCredentialRemove',
  'Mutation.adminGroupRatioSet',
  'Mutation.adminModelUpsert',
  'Mutation.adminNodeCreate',
  'Mutation.adminNodeTokenRotate',
  'Mutation.adminUserCreate',
  'Mutation.adminUserLinkCreate',
  'Mutation.adminUserUpdate',
  'Mutation.adminWalletAdjust',
  'Mutation.apiKeyReveal',
  'Mutation.apiKeyRotate',
]);

/** Every field of the roots, of AdminQuery, and what of a user is more than a profile. */
const FIELD_RULES: Readonly<Record<string, TokenRule>> = {
  'Query.admin': 'ANY',
  'Query.baseAddress': 'ANY',
  'Query.catalog': 'ANY',
  'Query.catalogModel': 'ANY',
  'Query.groupRatios': 'ANY',
  'Query.node': 'ANY',
  'Query.nodes': 'ANY',
  'Query.privacyPolicy': 'ANY',
  'Query.signInOptions': 'ANY',
  'Query.usageEntry': 'USAGE_READ',
  'Query.viewer': 'ANY',
  'AdminQuery.apiKeys': 'ADMIN_USERS',
  'AdminQuery.auditLog': 'ADMIN_AUDIT_READ',
  'AdminQuery.configRevision': 'ADMIN_NODES',
  'AdminQuery.dataPlaneNodes': 'ADMIN_NODES',
  'AdminQuery.ledger': 'ADMIN_WALLET',
  'AdminQuery.providers': 'ADMIN_UPSTREAMS',
  'AdminQuery.routes': 'ADMIN_UPSTREAMS',
  'AdminQuery.systemHealth': 'ADMIN_NODES',
  'AdminQuery.usage': 'ADMIN_USERS',
  'AdminQuery.usageSummary': 'ADMIN_USERS',
  'AdminQuery.user': ['ADMIN_USERS', 'ADMIN_WALLET'],
  'AdminQuery.users': ['ADMIN_USERS', 'ADMIN_WALLET'],
  'Mutation.accessTokenCreate': 'BROWSER',
  'Mutation.accessTokenRevoke': 'BROWSER',
  'Mutation.accountDelete': 'BROWSER',
  'Mutation.adminApiKeyDisable': 'ADMIN_USERS',
  'Mutation.adminClaim': 'BROWSER',
  'Mutation.adminCredentialAdd': 'ADMIN_UPSTREAMS',
  'Mutation.adminCredentialRemove': 'ADMIN_UPSTREAMS',
  'Mutation.adminGroupRatioSet': 'ADMIN_CATALOG',
  'Mutation.adminModelSetState': 'ADMIN_CATALOG',
  'Mutation.adminModelUpsert': 'ADMIN_CATALOG',
  'Mutation.adminNodeCreate': 'ADMIN_NODES',
  'Mutation.adminNodeDrain': 'ADMIN_NODES',
  'Mutation.adminNodeTokenRotate': 'ADMIN_NODES',
  'Mutation.adminPolicyPublish': 'ADMIN_USERS',
  'Mutation.adminProviderDelete': 'ADMIN_UPSTREAMS',
  'Mutation.adminProviderProbe': 'ADMIN_UPSTREAMS',
  'Mutation.adminProviderUpsert': 'ADMIN_UPSTREAMS',
  'Mutation.adminRouteDelete': 'ADMIN_UPSTREAMS',
  'Mutation.adminRouteUpsert': 'ADMIN_UPSTREAMS',
  'Mutation.adminUserCreate': 'ADMIN_USERS',
  'Mutation.adminUserLinkCreate': 'ADMIN_USERS',
  'Mutation.adminUserSessionsRevoke': 'ADMIN_USERS',
  'Mutation.adminUserUpdate': 'ADMIN_USERS',
  'Mutation.adminWalletAdjust': 'ADMIN_WALLET',
  'Mutation.apiKeyCreate': 'KEYS_WRITE',
  'Mutation.apiKeyDisable': 'KEYS_WRITE',
  'Mutation.apiKeyEnable': 'KEYS_WRITE',
  'Mutation.apiKeyReveal': 'KEYS_WRITE',
  'Mutation.apiKeyRevoke': 'KEYS_WRITE',
  'Mutation.apiKeyRotate': 'KEYS_WRITE',
  'Mutation.apiKeyUpdate': 'KEYS_WRITE',
  'Mutation.conversationCreate': 'BROWSER',
  'Mutation.conversationDelete': 'BROWSER',
  'Mutation.conversationRename': 'BROWSER',
  'Mutation.conversationsDeleteAll': 'BROWSER',
  'Mutation.messageRegenerate': 'BROWSER',
  'Mutation.messageSend': 'BROWSER',
  'Mutation.messageStop': 'BROWSER',
  'Mutation.passwordChange': 'BROWSER',
  'Mutation.passwordReset': 'BROWSER',
  'Mutation.personalSwitchSet': 'BROWSER',
  'Mutation.policyAccept': 'BROWSER',
  'Mutation.profileUpdate': 'BROWSER',
  'Mutation.reauthenticate': 'BROWSER',
  'Mutation.register': 'BROWSER',
  'Mutation.sessionRevoke': 'BROWSER',
  'Mutation.sessionsRevokeOthers': 'BROWSER',
  'Mutation.signIn': 'BROWSER',
  'Mutation.signOut': 'BROWSER',
  'Mutation.totpConfirm': 'BROWSER',
  'Mutation.totpDisable': 'BROWSER',
  'Mutation.totpEnrol': 'BROWSER',
  'Mutation.walletSettingsUpdate': 'WALLET_WRITE',
  'Subscription.adminAuditAdded': 'ADMIN_AUDIT_READ',
  'Subscription.adminNodeUpdated': 'ADMIN_NODES',
  'Subscription.apiKeyUpdated': 'KEYS_READ',
  'Subscription.catalogUpdated': 'ANY',
  'Subscription.messageStream': 'BROWSER',
  'Subscription.personalIntelligenceUpdated': 'BROWSER',
  'Subscription.usageAdded': 'USAGE_READ',
  'Subscription.walletUpdated': 'WALLET_READ',
  'User.accessTokens': 'BROWSER',
  'User.securityFactors': 'ADMIN_USERS',
  'User.sessions': 'ADMIN_USERS',
  'WalletLease.node': 'ANY',
};

/** Types that fields of any object may lead to. What needs no scope is said here too. */
const TYPE_RULES: Readonly<Record<string, TokenRule>> = {
  AccessToken: 'BROWSER',
  ApiKey: ['KEYS_READ', 'KEYS_WRITE', 'ADMIN_USERS'],
  AuditActor: 'ANY',
  AuditEvent: 'ADMIN_AUDIT_READ',
  CatalogModel: 'ANY',
  ClientSnippet: 'ANY',
  Conversation: 'BROWSER',
  DataPlaneNode: 'ADMIN_NODES',
  GroupPrice: 'ANY',
  GroupRatio: 'ANY',
  KeyRotation: 'ANY',
  LedgerEntry: ['WALLET_READ', 'WALLET_WRITE', 'ADMIN_WALLET'],
  Message: 'BROWSER',
  MessageAttachment: 'BROWSER',
  MessageStreamEvent: 'BROWSER',
  ModelDeprecation: 'ANY',
  ModelEndpoint: 'ANY',
  ModelHealth: 'ANY',
  ModelLimits: 'ANY',
  Node: 'ANY',
  NotificationPreferences: 'ANY',
  PageInfo: 'ANY',
  PersonalIntelligence: 'BROWSER',
  PersonalSwitch: 'BROWSER',
  PlaygroundHome: 'BROWSER',
  PolicyAcceptance: 'ANY',
  PolicyVersion: 'ANY',
  SecurityFactors: 'ADMIN_USERS',
  Session: 'ADMIN_USERS',
  SnippetFile: 'ANY',
  SystemHealth: 'ADMIN_NODES',
  UpstreamCredential: 'ADMIN_UPSTREAMS',
  UpstreamProbeResult: 'ANY',
  UpstreamProvider: 'ADMIN_UPSTREAMS',
  UpstreamRoute: 'ADMIN_UPSTREAMS',
  UpstreamTimeouts: 'ANY',
  UsageEntry: ['USAGE_READ', 'ADMIN_USERS'],
  UsageGroupRow: 'ANY',
  UsagePoint: 'ANY',
  UsageSummary: ['USAGE_READ', 'ADMIN_USERS'],
  UsageTotals: 'ANY',
  User: 'ANY',
  UserError: 'ANY',
  Wallet: ['WALLET_READ', 'WALLET_WRITE', 'ADMIN_WALLET'],
  WalletLease: 'ANY',
};

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
