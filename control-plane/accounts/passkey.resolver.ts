/** Passkeys on the API. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Authorized, Public, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, requestError } from '../errors.ts';
import { IdInput } from '../inputs.ts';
import { SignInPayload, ViewerPayload } from './account.inputs.ts';
import { userById } from './account.service.ts';
import { attemptSucceeded, beginAttempt } from './attempts.ts';
import { enter } from './enter.ts';
import { relyingPartyOf } from './passkey.challenge.ts';
import type { RelyingParty } from './passkey.challenge.ts';
import {
  addPasskey,
  authenticationOptions,
  checkPasskey,
  registrationOptions,
  removePasskey,
  renamePasskey,
} from './passkey.service.ts';
import {
  ChallengePayload,
  PasskeyRegisterInput,
  PasskeyRenameInput,
  PasskeySignInInput,
} from './passkey.types.ts';
import { openSession } from './session.service.ts';

/** What browsers do with passkeys. */
@Resolver()
export class PasskeyResolver {
  @Public()
  @Mutation(() => ChallengePayload, {
    description: 'Options for navigator.credentials.get with any passkey of this site, also as autofill.',
  })
  async passkeySignInOptions(@Ctx() context: Context): Promise<ChallengePayload> {
    const party = partyOf(context);
    await beginAttempt(context.em, { purpose: 'challenge', email: null, ip: context.ip });
    return authenticationOptions(context.em, party, { purpose: 'SIGN_IN', userId: null });
  }

  @Public()
  @Mutation(() => SignInPayload, {
    description:
      'Opens a session by a passkey, which stands for password and second factor. Sets the cookie.',
  })
  passkeySignIn(
    @Ctx() context: Context,
    @Arg('input', () => PasskeySignInInput, { description: 'The answer.' }) input: PasskeySignInInput,
  ): Promise<SignInPayload> {
    const { em, ip } = context;
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const party = partyOf(context);
      const attempt = { purpose: 'passkey' as const, email: null, ip };
      await beginAttempt(em, attempt);
      const use = { purpose: 'SIGN_IN' as const, userId: null, credential: input.credential };
      const user = await checkPasskey(em, party, use);
      await attemptSucceeded(em, attempt);
      const opened = await openSession(em, user, { ...context, remember: input.rememberMe });
      const { session } = enter(context, { user, ...opened });
      return { viewer: user, session, secondFactorRequired: false };
    });
  }

  @Authorized('USER')
  @Mutation(() => ChallengePayload, {
    description: "Options for navigator.credentials.get with the caller's own passkeys, for reauthenticate.",
  })
  async passkeyProofOptions(@Ctx() context: Context): Promise<ChallengePayload> {
    const party = partyOf(context);
    const { id, email } = viewerOf(context);
    await beginAttempt(context.em, { purpose: 'challenge', email, ip: context.ip });
    return authenticationOptions(context.em, party, { purpose: 'PROVE', userId: id });
  }

  @Authorized('USER')
  @Mutation(() => ChallengePayload, { description: 'Options for navigator.credentials.create.' })
  async passkeyRegisterOptions(@Ctx() context: Context): Promise<ChallengePayload> {
    const party = partyOf(context);
    const viewer = viewerOf(context);
    await beginAttempt(context.em, { purpose: 'challenge', email: viewer.email, ip: context.ip });
    return registrationOptions(context.em, party, viewer);
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Adds a passkey that a browser just made.' })
  passkeyRegister(
    @Ctx() context: Context,
    @Arg('input', () => PasskeyRegisterInput, { description: 'The passkey.' }) input: PasskeyRegisterInput,
  ): Promise<ViewerPayload> {
    return changed(context, (userId) =>
      addPasskey(context.em, partyOf(context), { userId, ip: context.ip, ...input }),
    );
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Gives a passkey another name.' })
  passkeyRename(
    @Ctx() context: Context,
    @Arg('input', () => PasskeyRenameInput, { description: 'The name.' }) input: PasskeyRenameInput,
  ): Promise<ViewerPayload> {
    return changed(context, (userId) => renamePasskey(context.em, userId, input));
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Removes a passkey; CONFLICT for the only way to sign in.' })
  passkeyDelete(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The passkey.' }) input: IdInput,
  ): Promise<ViewerPayload> {
    return changed(context, (userId) => removePasskey(context.em, userId, { id: input.id, ip: context.ip }));
  }
}

function changed(context: Context, change: (userId: string) => Promise<void>): Promise<ViewerPayload> {
  const { id } = viewerOf(context);
  return outcome({ viewer: null }, async () => {
    await change(id);
    return { viewer: await userById(context.em, id) };
  });
}

/** Throws BAD_USER_INPUT where passkeys cannot be used: off https. */
function partyOf(context: Context): RelyingParty {
  const party = relyingPartyOf(context.settings);
  if (!party) throw requestError('BAD_USER_INPUT', 'Passkeys need the console on https or on localhost.');
  return party;
}
