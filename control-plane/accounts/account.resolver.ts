/** GraphQL operations of the caller's own account: viewer, sign-in, sign-out, sessions, privacy policy. */
import 'reflect-metadata';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { connectionFrom, PageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { Authorized, Public, sessionOf, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { IdInput } from '../graphql/inputs.ts';
import { changePassword, claimAccount, signIn, userById } from './account.service.ts';
import {
  AdminClaimInput,
  PasswordChangeInput,
  PolicyAcceptInput,
  SignInInput,
  SignInPayload,
  SignOutPayload,
  ViewerPayload,
} from './account.inputs.ts';
import { setSessionCookie } from './session-cookie.ts';
import { START_PATH } from './oidc.routes.ts';
import { relyingPartyOf } from './passkey.challenge.ts';
import {
  recordAcceptance,
  acceptancesOf,
  requireCurrentPolicy,
  currentPolicy,
  policyByVersion,
  policyToAccept,
} from './policy.service.ts';
import { countSessions, endSession, endSessions, sessionsOf } from './session.service.ts';
import {
  PolicyAcceptance,
  PolicyVersion,
  Session,
  SessionConnection,
  SignInOptions,
  User,
} from './user.type.ts';

const CURSORS = cursorsOf('sessions', 'TEXT');

/** Queries and mutations of the caller's own account. */
@Resolver(() => User)
export class AccountResolver {
  @Public()
  @Query(() => User, { nullable: true, description: 'The signed-in user, or null.' })
  async viewer(@Ctx() context: Context): Promise<User | null> {
    return context.viewer ? userById(context.em, context.viewer.id) : null;
  }

  @Public()
  @Query(() => PolicyVersion, {
    description: 'The given version of the privacy policy; the one in force if it is null or unknown.',
  })
  async privacyPolicy(
    @Ctx() context: Context,
    @Arg('version', () => String, { nullable: true, description: 'Version number, e.g. 1.0.' }) version:
      | string
      | null,
  ): Promise<PolicyVersion> {
    return (await policyByVersion(context.em, version)) ?? currentPolicy(context.em);
  }

  @Public()
  @Query(() => SignInOptions, { description: 'The ways to sign in that this installation offers.' })
  async signInOptions(@Ctx() context: Context): Promise<SignInOptions> {
    const { settings, oidc } = context;
    const startUrl = `${settings.consoleUrl}${START_PATH}`;
    return {
      password: true,
      mail: settings.smtpUrl !== null,
      passkeys: relyingPartyOf(settings) !== null,
      oidcProviders: oidc ? [{ id: 'oidc', label: oidc.label, startUrl }] : [],
      registrationOpen: true,
      currentPolicy: await currentPolicy(context.em),
    };
  }

  @Public()
  @Mutation(() => SignInPayload, { description: 'Opens a session and sets the session cookie.' })
  signIn(
    @Ctx() context: Context,
    @Arg('input', () => SignInInput, { description: 'Credentials.' }) input: SignInInput,
  ): Promise<SignInPayload> {
    const { secretKey } = context.settings;
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const opened = await signIn(context.em, { ...input, secretKey }, context);
      const { user, session } = setSessionCookie(context, opened);
      return { viewer: user, session, secondFactorRequired: false };
    }).then((payload) => ({
      ...payload,
      secondFactorRequired: payload.userErrors.some(({ code }) => code === 'TOTP_REQUIRED'),
    }));
  }

  @Public()
  @Mutation(() => SignInPayload, {
    description: 'Sets the password of an account by its claim link, and signs in.',
  })
  adminClaim(
    @Ctx() context: Context,
    @Arg('input', () => AdminClaimInput, { description: 'Token, address and password.' })
    input: AdminClaimInput,
  ): Promise<SignInPayload> {
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const { user, session } = setSessionCookie(context, await claimAccount(context.em, input, context));
      return { viewer: user, session, secondFactorRequired: false };
    });
  }

  @Public()
  @Mutation(() => SignOutPayload, { description: 'Ends the session and clears its cookie.' })
  async signOut(@Ctx() context: Context): Promise<SignOutPayload> {
    const session = context.viewer?.session;
    if (context.viewer && session) await endSession(context.em, context.viewer.id, session.id);
    context.setSession(null);
    return { ok: true };
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: "Ends one of the caller's sessions." })
  sessionRevoke(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The session.' }) input: IdInput,
  ): Promise<ViewerPayload> {
    const { em } = context;
    const { id } = viewerOf(context);
    return outcome({ viewer: null }, async () => {
      await endSession(em, id, input.id);
      return { viewer: await userById(em, id) };
    });
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: "Ends all of the caller's sessions but this one." })
  async sessionsRevokeOthers(@Ctx() context: Context): Promise<ViewerPayload> {
    const { id } = viewerOf(context);
    await endSessions(context.em, id, sessionOf(context).id);
    return { viewer: await userById(context.em, id), userErrors: [] };
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, {
    description: 'Changes the password and, unless revokeOtherSessions is false, ends all other sessions.',
  })
  passwordChange(
    @Ctx() context: Context,
    @Arg('input', () => PasswordChangeInput, { description: 'Both passwords.' }) input: PasswordChangeInput,
  ): Promise<ViewerPayload> {
    const { id } = viewerOf(context);
    return outcome({ viewer: null }, async () => ({
      viewer: await changePassword(context.em, id, {
        currentPassword: input.currentPassword,
        newPassword: input.newPassword,
        sessionId: sessionOf(context).id,
        revokeOtherSessions: input.revokeOtherSessions,
        ip: context.ip,
      }),
    }));
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Accepts the privacy policy in force.' })
  policyAccept(
    @Ctx() context: Context,
    @Arg('input', () => PolicyAcceptInput, { description: 'The version.' }) input: PolicyAcceptInput,
  ): Promise<ViewerPayload> {
    return outcome({ viewer: null }, async () => {
      const policy = await requireCurrentPolicy(context.em, input.version);
      const user = await userById(context.em, viewerOf(context).id);
      await recordAcceptance(context.em, { user, policy, ip: context.ip });
      return { viewer: user };
    });
  }

  @FieldResolver(() => [PolicyAcceptance], {
    description: 'Versions of the privacy policy that the user accepted, newest first.',
  })
  policyAcceptances(@Root() user: User, @Ctx() context: Context): Promise<PolicyAcceptance[]> {
    return acceptancesOf(context.em, user.id);
  }

  @FieldResolver(() => PolicyVersion, {
    nullable: true,
    description: 'The version of the privacy policy that the user must accept; null if none.',
  })
  mustAcceptPolicy(@Root() user: User, @Ctx() context: Context): Promise<PolicyVersion | null> {
    return policyToAccept(context.em, user.id);
  }

  @FieldResolver(() => SessionConnection, { description: 'Open sessions of the user, newest first.' })
  async sessions(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => PageArguments) page: PageArguments,
  ): Promise<Connection<Session>> {
    const position = positionOf(page, CURSORS);
    const rows = await sessionsOf(context.em, user.id, position);
    return connectionFrom(rows, {
      position,
      totalCount: () => countSessions(context.em, user.id),
      cursor: (row) => CURSORS.encode([row.id]),
      node: (row) => row,
    });
  }
}

/** The field of a session that depends on the request. */
@Resolver(() => Session)
export class SessionResolver {
  @FieldResolver(() => Boolean, { description: 'Whether this request used this session.' })
  current(@Root() session: Session, @Ctx() context: Context): boolean {
    return context.viewer?.session?.id === session.id;
  }
}
