/** Who asks, from where, and with what: the context of an operation, and the rule for each root field. */
import 'reflect-metadata';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { GraphQLSchema } from 'graphql';
import { Authorized as AuthorizedField, Extensions } from 'type-graphql';
import type { AuthCheckerFn } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import type { Batches } from './batches.ts';
import type { BudgetState } from './budget/budget.ts';
import type { OidcClient } from './accounts/oidc.client.ts';
import type { AccessScope } from './enums.ts';
import { requestError } from './errors.ts';
import type { Playground } from './playground/live.ts';
import type { Settings } from './settings.ts';

/** Who may use a field: a signed-in user (administrators too), an administrator, a data-plane node. */
export type Role = 'USER' | 'ADMIN' | 'NODE';

/** The signed-in user of a request. */
export interface Viewer {
  id: string;
  email: string;
  role: 'USER' | 'ADMIN';
  allowedGroups: Group[];
  /** The session of a browser; null for scripts. */
  session: SessionIdentity | null;
  /** The access token of a script; null for browsers. Then `role` is what its scopes leave of the owner's. */
  token: TokenIdentity | null;
}

/** The session that a browser's cookie names. */
export interface SessionIdentity {
  id: string;
  /** When a password or a second factor was last proven in it. */
  authenticatedAt: Date;
}

/** The access token that a script sent. */
export interface TokenIdentity {
  id: string;
  name: string;
  scopes: readonly AccessScope[];
}

/** The data-plane node whose token came with the request. */
export interface NodeIdentity {
  id: string;
  name: string;
}

export interface Context {
  /** A fork of this request alone; of this event alone in subscriptions. */
  em: EntityManager;
  viewer: Viewer | null;
  node: NodeIdentity | null;
  ip: string | null;
  userAgent: string | null;
  requestId: string;
  settings: Settings;
  /** Replies being written by this process. */
  playground: Playground;
  /** The identity provider of this installation; null where there is none. */
  oidc: OidcClient | null;
  /** What marks the browser; null where nothing was begun in it that has to end in it. */
  browserToken: string | null;
  /** Marks the browser. Throws BAD_USER_INPUT on a WebSocket. */
  setBrowser(token: string, expiresAt: Date): void;
  /** Lookups of many fields at once. */
  batches: Batches;
  /** What this operation cost the caller; null until it is known, and for nodes. */
  budget: BudgetState | null;
  /**
   * Sets the session cookie, or clears it with null. Throws BAD_USER_INPUT on a WebSocket, where no cookie
   * can be set.
   */
  setSession(token: string | null, expiresAt?: Date): void;
}

/** Who did something, for the audit log and the ledger. */
export interface Actor {
  kind: 'USER' | 'ACCESS_TOKEN' | 'SYSTEM' | 'NODE' | 'WEBHOOK';
  id: string | null;
  label: string;
  ip: string | null;
  requestId: string;
}

/** The process itself, for what no request asked for. */
export const SYSTEM_ACTOR: Actor = {
  kind: 'SYSTEM',
  id: null,
  label: 'system',
  ip: null,
  requestId: 'system',
};

/** The viewer of a field that demands one. Throws UNAUTHENTICATED otherwise. */
export function viewerOf(context: Context): Viewer {
  if (!context.viewer) throw requestError('UNAUTHENTICATED', 'Sign in first.');
  return context.viewer;
}

/** The node of a field that demands one. Throws UNAUTHENTICATED otherwise. */
export function nodeOf(context: Context): NodeIdentity {
  if (!context.node) throw requestError('UNAUTHENTICATED', 'Send the token of a node as a bearer token.');
  return context.node;
}

/**
 * The actor that audit and ledger name for this request. Throws UNAUTHENTICATED without a viewer or a node.
 */
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

/** The session of a field that browsers alone may use. Throws FORBIDDEN for a script. */
export function sessionOf(context: Context): SessionIdentity {
  const { session } = viewerOf(context);
  if (!session) throw requestError('FORBIDDEN', 'Only a signed-in browser may do that.');
  return session;
}

/** Whether an administrator asks, with this scope where a script does. */
export function isAdminFor(context: Context, scope: AccessScope): boolean {
  const { viewer } = context;
  return viewer?.role === 'ADMIN' && (!viewer.token || viewer.token.scopes.includes(scope));
}

/** Marks a field for callers of this role alone. Every root field needs this or `Public`. */
export function Authorized(role: Role): MethodDecorator & PropertyDecorator {
  return combined(AuthorizedField([role]), Extensions({ access: role }));
}

/** Marks a root field that anybody may use, on purpose. */
export function Public(): MethodDecorator & PropertyDecorator {
  return combined(Extensions({ access: 'PUBLIC' }));
}

/** Refuses with UNAUTHENTICATED where nobody asks, and with FORBIDDEN where the wrong one does. */
export const checkAccess: AuthCheckerFn<Context, Role> = ({ context }, roles) => {
  if (roles.some((role) => holds(context, role))) return true;
  if (!context.viewer && !context.node) throw requestError('UNAUTHENTICATED', 'Sign in first.');
  throw requestError('FORBIDDEN', 'This account may not do that.', { requiredRole: roles[0] });
};

/**
 * Names of root fields that neither `Authorized` nor `Public` speaks about; the schema is refused unless
 * there are none.
 */
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
