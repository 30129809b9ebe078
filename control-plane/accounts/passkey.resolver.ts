/** GraphQL operations of passkeys: adding, renaming, removing, signing in and re-authenticating with them. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Authorized, Public, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, requestError } from '../graphql/errors.ts';
import { IdInput } from '../graphql/inputs.ts';
import { SignInPayload, ViewerPayload } from './account.inputs.ts';
import { userById } from './account.service.ts';
import { clearAfterSuccess, countAction } from './rate-limits.ts';
import { setSessionCookie } from './session-cookie.ts';
import { relyingPartyOf } from './passkey.challenge.ts';
import type { RelyingParty } from './passkey.challenge.ts';
import {
  addPasskey,
  authenticationOptions,
  checkPasskey,
  registrationOptions,
  renamePasskey,
} from './passkey.service.ts';
import {
  ChallengePayload,
  PasskeyRegisterInput,
  PasskeyRenameInput,
  PasskeySignInInput,
} from './passkey.types.ts';
import { openSession } from './session.service.ts';
import { removeSignInMethod } from './sign-in-methods.ts';

/** Mutations of passkeys. */
@Resolver()
export class PasskeyResolver {
  @Public()
  @Mutation(() => ChallengePayload, {
    description:
      'Options for navigator.credentials.get that accept any passkey of this site, also for autofill.',
  })
  async passkeySignInOptions(@Ctx() context: Context): Promise<ChallengePayload> {
    const party = partyOf(context);
    await countAction(context.em, { purpose: 'challenge', email: null, ip: context.ip });
    return authenticationOptions(context.em, party, { purpose: 'SIGN_IN', userId: null });
  }

  @Public()
  @Mutation(() => SignInPayload, {
    description: 'Signs a user in by a passkey, without password and second factor. Sets the session cookie.',
  })
  passkeySignIn(
    @Ctx() context: Context,
    @Arg('input', () => PasskeySignInInput, { description: "The passkey's response." })
    input: PasskeySignInInput,
  ): Promise<SignInPayload> {
    const { em, ip } = context;
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const party = partyOf(context);
      const action = { purpose: 'passkey' as const, email: null, ip };
      await countAction(em, action);
      const attempt = { purpose: 'SIGN_IN' as const, userId: null, credential: input.credential };
      const user = await checkPasskey(em, party, attempt);
      await clearAfterSuccess(em, action);
      const opened = await openSession(em, user, { ...context, remember: input.rememberMe });
      const { session } = setSessionCookie(context, { user, ...opened });
      return { viewer: user, session, secondFactorRequired: false };
    });
  }

  @Authorized('USER')
  @Mutation(() => ChallengePayload, {
    description:
      "Options for navigator.credentials.get that accept the caller's passkeys, for reauthenticate.",
  })
  async passkeyProofOptions(@Ctx() context: Context): Promise<ChallengePayload> {
    const party = partyOf(context);
    const { id, email } = viewerOf(context);
    await countAction(context.em, { purpose: 'challenge', email, ip: context.ip });
    return authenticationOptions(context.em, party, { purpose: 'PROVE', userId: id });
  }

  @Authorized('USER')
  @Mutation(() => ChallengePayload, { description: 'Options for navigator.credentials.create.' })
  async passkeyRegisterOptions(@Ctx() context: Context): Promise<ChallengePayload> {
    const party = partyOf(context);
    const viewer = viewerOf(context);
    await countAction(context.em, { purpose: 'challenge', email: viewer.email, ip: context.ip });
    return registrationOptions(context.em, party, viewer);
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Adds a passkey that the browser created.' })
  passkeyRegister(
    @Ctx() context: Context,
    @Arg('input', () => PasskeyRegisterInput, { description: 'The passkey.' }) input: PasskeyRegisterInput,
  ): Promise<ViewerPayload> {
    return changeAsViewer(context, (userId) =>
      addPasskey(context.em, partyOf(context), { userId, ip: context.ip, ...input }),
    );
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Renames a passkey.' })
  passkeyRename(
    @Ctx() context: Context,
    @Arg('input', () => PasskeyRenameInput, { description: 'The new name.' }) input: PasskeyRenameInput,
  ): Promise<ViewerPayload> {
    return changeAsViewer(context, (userId) => renamePasskey(context.em, userId, input));
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, {
    description: 'Removes a passkey. Fails with CONFLICT if the user could not sign in without it.',
  })
  passkeyDelete(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The passkey.' }) input: IdInput,
  ): Promise<ViewerPayload> {
    const { em, ip } = context;
    return changeAsViewer(context, (userId) =>
      removeSignInMethod(em, 'passkey', { userId, id: input.id, ip }),
    );
  }
}

/** Runs a change of the viewer's account. Returns the viewer after the change. */
function changeAsViewer(context: Context, change: (userId: string) => Promise<void>): Promise<ViewerPayload> {
  const { id } = viewerOf(context);
  return outcome({ viewer: null }, async () => {
    await change(id);
    return { viewer: await userById(context.em, id) };
  });
}

/**
 * The site that passkeys belong to. Throws BAD_USER_INPUT if the console has an address for which browsers
 * offer no passkeys.
 */
function partyOf(context: Context): RelyingParty {
  const party = relyingPartyOf(context.settings);
  if (!party)
    throw requestError(
      'BAD_USER_INPUT',
      'Passkeys work only on https or localhost. Set CONSOLE_URL to an https address.',
    );
  return party;
}
