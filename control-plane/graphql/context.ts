/**
 * The context of a GraphQL operation (its caller and services), and the role that each root field requires.
 */
import 'reflect-metadata';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { GraphQLSchema } from 'graphql';
import { Authorized as AuthorizedField, Extensions } from 'type-graphql';
import type { AuthCheckerFn } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import type { Batches } from '../database/batches.ts';
import type { NodeFeed } from '../database/config-log.ts';
import type { BudgetState } from '../budget/budget.ts';
import type { OidcClient } from '../accounts/oidc.client.ts';
import type { AccessScope } from './enums.ts';
import { requestError } from './errors.ts';
import type { Playground } from '../playground/playground.ts';
import type { Settings } from '../process/settings.ts';
import type { ReportAnswer, ReportedUsage } from '../usage/settlement.rules.ts';
import type { UsageReader } from '../usage/usage.reader.ts';

/** Role that a field requires: a signed-in user (administrators included), an administrator, or a node. */
export type Role = 'USER' | 'ADMIN' | 'NODE';

/** The signed-in user of a request. */
export interface Viewer {
  id: string;
  email: string;
  role: 'USER' | 'ADMIN';
  allowedGroups: Group[];
  /** The session of a browser; null for scripts. */
  session: SessionIdentity | null;
  /** The access token of a script; null for browsers. Its scopes may lower `role` below the owner's role. */
  token: TokenIdentity | null;
}

/** The session that the browser's cookie belongs to. */
interface SessionIdentity {
  id: string;
  /** When the user last proved a password or another factor in this session. */
  authenticatedAt: Date;
}

/** The access token of a script. */
interface TokenIdentity {
  id: string;
  name: string;
  scopes: readonly AccessScope[];
}

/** The data-plane node that the request's token belongs to. */
export interface NodeIdentity {
  id: string;
  name: string;
}

/** The context of one GraphQL operation, for its resolvers. */
export interface Context {
  /** Database session of this operation; in subscriptions, of one event. */
  em: EntityManager;
  viewer: Viewer | null;
  node: NodeIdentity | null;
  ip: string | null;
  userAgent: string | null;
  requestId: string;
  settings: Settings;
  /** Delivers configuration to nodes and waits for their acknowledgements. */
  nodeFeed: NodeFeed;
  /** The Playground's replies and chats in this process. */
  playground: Playground;
  /** Answers questions to the usage log. */
  usage: UsageReader;
  /** Settles the reports of nodes. */
  settlements: Settlements;
  /** The identity provider of this installation; null if none is set. */
  oidc: OidcClient | null;
  /** Random token in a cookie that ties a sign-in flow to the browser that began it; null without one. */
  browserToken: string | null;
  /** Sets that cookie. Throws BAD_USER_INPUT on a WebSocket. */
  setBrowser(token: string, expiresAt: Date): void;
  /** Token of the browser's device cookie, which `setSession` sets; new for a browser without one. */
  device: string;
  /** Combines the lookups of many fields into one query. */
  batches: Batches;
  /** Cost of this operation and the budget left; null before it is charged, and for nodes. */
  budget: BudgetState | null;
  /** The converted list of a mutation with many records, if it was converted; see graphql/plain-list.ts. */
  plainList?: readonly unknown[];
  /** Sets the session cookie, or clears it with null. A WebSocket cannot set it: throws BAD_USER_INPUT. */
  setSession(token: string | null, expiresAt?: Date): void;
}

/** Settles reports of nodes; see usage/settlement.queue.ts. */
interface Settlements {
  settle(report: { node: Actor & { id: string }; records: readonly ReportedUsage[] }): Promise<ReportAnswer>;
}

/** The cause of a change, for the audit log and the ledger. */
export interface Actor {
  kind: 'USER' | 'ACCESS_TOKEN' | 'SYSTEM' | 'NODE' | 'WEBHOOK';
  id: string | null;
  label: string;
  ip: string | null;
  requestId: string;
}

/** The actor of changes that no request caused. */
export const SYSTEM_ACTOR: Actor = {
  kind: 'SYSTEM',
  id: null,
  label: 'system',
  ip: null,
  requestId: 'system',
};

/** The signed-in user. Throws UNAUTHENTICATED without one. */
export function viewerOf(context: Context): Viewer {
  if (!context.viewer)
    throw requestError('UNAUTHENTICATED', 'You are not signed in. Sign in, or send an access token.');
  return context.viewer;
}

/** The calling node. Throws UNAUTHENTICATED without one. */
export function nodeOf(context: Context): NodeIdentity {
  if (!context.node)
    throw requestError(
      'UNAUTHENTICATED',
      'Only nodes may do this. Send the node token (gnt_…) as bearer token.',
    );
  return context.node;
}

/** The actor of this request for audit log and ledger. Throws UNAUTHENTICATED without a viewer or a node. */
export function actorOf(context: Context): Actor {
  const { ip, requestId } = context;
  if (context.node && !context.viewer)
    return { kind: 'NODE', id: context.node.id, label: context.node.name, ip, requestId };
  const viewer = viewerOf(context);
  if (viewer.token) {
    const label = `${viewer.email} by ${viewer.token.name}`;
    return { kind: 'ACCESS_TOKEN', id: viewer.token.id, label, ip, requestId };
  }
  return { kind: 'USER', id: viewer.id, label: viewer.email, ip, requestId };
}

/** The browser session of the viewer. Throws UNAUTHENTICATED without a viewer, FORBIDDEN for a script. */
export function sessionOf(context: Context): SessionIdentity {
  const { session } = viewerOf(context);
  if (!session)
    throw requestError('FORBIDDEN', 'Access tokens cannot do this. Sign in to the console with a browser.');
  return session;
}

/** Whether the caller is an administrator whose access token, if there is one, has the scope. */
export function isAdminFor(context: Context, scope: AccessScope): boolean {
  const { viewer } = context;
  return viewer?.role === 'ADMIN' && (!viewer.token || viewer.token.scopes.includes(scope));
}

/** Decorator of a field that requires a role. Every root field needs this or `Public`. */
export function Authorized(role: Role): MethodDecorator & PropertyDecorator {
  return combined(AuthorizedField([role]), Extensions({ access: role }));
}

/** Decorator of a root field that anybody may use. */
export function Public(): MethodDecorator & PropertyDecorator {
  return combined(Extensions({ access: 'PUBLIC' }));
}

/** Throws UNAUTHENTICATED for an anonymous caller, and FORBIDDEN for a caller without the role. */
export const checkAccess: AuthCheckerFn<Context, Role> = ({ context }, roles) => {
  if (roles.some((role) => holds(context, role))) return true;
  if (!context.viewer && !context.node)
    throw requestError('UNAUTHENTICATED', 'You are not signed in. Sign in, or send an access token.');
  throw requestError('FORBIDDEN', `This needs the role ${String(roles[0])}. Use an account that has it.`, {
    requiredRole: roles[0],
  });
};

/** Names of root fields with neither `Authorized` nor `Public`; `createSchema` refuses a schema with any. */
export function fieldsWithoutRule(schema: GraphQLSchema): string[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {})
      .filter((field) => !field.extensions['access'])
      .map((field) => `${root?.name}.${field.name}`),
  );
}

function holds(context: Context, role: Role): boolean {
  if (role === 'NODE') return context.node !== null;
  return context.viewer !== null && (role === 'USER' || context.viewer.role === 'ADMIN');
}

type AnyDecorator = (target: object, key: string | symbol, descriptor: PropertyDescriptor) => void;

function combined(...decorators: unknown[]): MethodDecorator & PropertyDecorator {
  return (target: object, key: string | symbol, descriptor?: PropertyDescriptor): void => {
    for (const decorate of decorators as AnyDecorator[]) decorate(target, key, descriptor ?? {});
  };
}
