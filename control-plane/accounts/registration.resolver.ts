/** GraphQL operations to register, to verify and change e-mail addresses, and to reset passwords. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Authorized, Public, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { AckPayload } from '../graphql/inputs.ts';
import { EmailInput, RegisterInput, RegisterPayload, SignInPayload, TokenInput } from './account.inputs.ts';
import { ViewerPayload } from './account.inputs.ts';
import { setSessionCookie } from './session-cookie.ts';
import { register, requestRegistration } from './registration.service.ts';
import type { Registration } from './registration.service.ts';
import { requestReset, resetPassword } from './reset.service.ts';
import { PasswordResetInput } from './security.types.ts';
import { requestEmailChange, requestVerification, verifyEmail } from './verification.service.ts';

/** Mutations of registration, verification and password reset. */
@Resolver()
export class RegistrationResolver {
  @Public()
  @Mutation(() => RegisterPayload, {
    description:
      'Creates an account and signs it in. If mail is sent (signInOptions.mail), the account is created ' +
      'only when its address is verified, and the response is the same whether or not the address has an ' +
      'account.',
  })
  register(
    @Ctx() context: Context,
    @Arg('input', () => RegisterInput, { description: 'The account.' }) input: RegisterInput,
  ): Promise<RegisterPayload> {
    return outcome({ viewer: null, verificationRequired: false }, async () => {
      if (context.settings.smtpUrl) return requestByMail(context, input);
      const { user } = setSessionCookie(context, await register(context.em, input, context));
      return { viewer: user, verificationRequired: false };
    });
  }

  @Public()
  @Mutation(() => ViewerPayload, {
    description:
      'Uses a mailed link: creates the registered account, verifies the address of an account, or changes ' +
      'it. The viewer is null, without an error, if the user must sign in next.',
  })
  emailVerify(
    @Ctx() context: Context,
    @Arg('input', () => TokenInput, { description: 'The link.' }) input: TokenInput,
  ): Promise<ViewerPayload> {
    return outcome({ viewer: null }, async () => {
      const { user, signedIn } = await verifyEmail(context.em, input.token, context);
      if (signedIn) setSessionCookie(context, signedIn);
      return { viewer: signedIn || context.viewer?.id === user.id ? user : null };
    });
  }

  @Authorized('USER')
  @Mutation(() => AckPayload, {
    description: "Mails a link that verifies the address of the caller's account.",
  })
  emailVerificationRequest(@Ctx() context: Context): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      await requestVerification(context.em, viewerOf(context).id, context);
      return { ok: true };
    });
  }

  @Authorized('USER')
  @Mutation(() => AckPayload, {
    description:
      'Mails a link to a new address. Using the link changes the address of the account and notifies the ' +
      'old address. The response is the same whether or not another account has the new address.',
  })
  emailChangeRequest(
    @Ctx() context: Context,
    @Arg('input', () => EmailInput, { description: 'The new address.' }) input: EmailInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      const change = { userId: viewerOf(context).id, email: input.email };
      await requestEmailChange(context.em, change, context);
      return { ok: true };
    });
  }

  @Public()
  @Mutation(() => AckPayload, {
    description:
      'Mails a link for a new password, valid for one hour and one use, if the address has an account. ' +
      'The response is the same for every address.',
  })
  passwordResetRequest(
    @Ctx() context: Context,
    @Arg('input', () => EmailInput, { description: 'The address.' }) input: EmailInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      await requestReset(context.em, input.email, context);
      return { ok: true };
    });
  }

  @Public()
  @Mutation(() => SignInPayload, {
    description:
      'Sets a new password by a single-use link and ends all sessions. Opens a new session, unless the ' +
      'account has a second factor.',
  })
  passwordReset(
    @Ctx() context: Context,
    @Arg('input', () => PasswordResetInput, { description: 'Token and new password.' })
    input: PasswordResetInput,
  ): Promise<SignInPayload> {
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const opened = await resetPassword(context.em, input, context);
      if (!opened) return { viewer: null, session: null, secondFactorRequired: true };
      const { user, session } = setSessionCookie(context, opened);
      return { viewer: user, session, secondFactorRequired: false };
    });
  }
}

/** Mails the registration link, and binds the registration to this browser by a cookie. */
async function requestByMail(
  context: Context,
  input: Registration,
): Promise<{ viewer: null; verificationRequired: boolean }> {
  const { browserToken, expiresAt } = await requestRegistration(context.em, input, context);
  context.setBrowser(browserToken, expiresAt);
  return { viewer: null, verificationRequired: true };
}
