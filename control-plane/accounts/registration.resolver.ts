/** Registering, verifying and changing addresses, and new passwords by links, on the API. */
import 'reflect-metadata';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Authorized, Public, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome } from '../errors.ts';
import { AckPayload } from '../inputs.ts';
import { EmailInput, RegisterInput, RegisterPayload, SignInPayload, TokenInput } from './account.inputs.ts';
import { ViewerPayload } from './account.inputs.ts';
import { enter } from './enter.ts';
import { register, requestRegistration } from './registration.service.ts';
import type { Registration } from './registration.service.ts';
import { requestReset, resetPassword } from './reset.service.ts';
import { PasswordResetInput } from './security.types.ts';
import { requestEmailChange, requestVerification, verifyEmail } from './verification.service.ts';

/** Ways to an account that do not begin with a session. */
@Resolver()
export class RegistrationResolver {
  @Public()
  @Mutation(() => RegisterPayload, {
    description:
      'Makes an account and signs it in. Where mail is sent (signInOptions.mail) the account is made once ' +
      'its address is verified, and the answer is the same whether the address has an account or not.',
  })
  register(
    @Ctx() context: Context,
    @Arg('input', () => RegisterInput, { description: 'The account.' }) input: RegisterInput,
  ): Promise<RegisterPayload> {
    return outcome({ viewer: null, verificationRequired: false }, async () => {
      if (context.settings.smtpUrl) return requestByMail(context, input);
      const { user } = enter(context, await register(context.em, input, context));
      return { viewer: user, verificationRequired: false };
    });
  }

  @Public()
  @Mutation(() => ViewerPayload, {
    description:
      'Does what a mailed link stands for: makes the registered account, verifies the address, or puts the ' +
      'new one in its place. The viewer is null, without an error, where the user has yet to sign in.',
  })
  emailVerify(
    @Ctx() context: Context,
    @Arg('input', () => TokenInput, { description: 'The link.' }) input: TokenInput,
  ): Promise<ViewerPayload> {
    return outcome({ viewer: null }, async () => {
      const { user, signedIn } = await verifyEmail(context.em, input.token, context);
      if (signedIn) enter(context, signedIn);
      return { viewer: signedIn || context.viewer?.id === user.id ? user : null };
    });
  }

  @Authorized('USER')
  @Mutation(() => AckPayload, { description: 'Mails a link that verifies the address of the account.' })
  emailVerificationRequest(@Ctx() context: Context): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      await requestVerification(context.em, viewerOf(context).id, context);
      return { ok: true };
    });
  }

  @Authorized('USER')
  @Mutation(() => AckPayload, {
    description:
      'Mails a link to a new address, which takes the place of the old one once it is used. The old ' +
      'address is told. The answer is the same whether somebody has the new address or not.',
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
      'Mails a link for a new password, good for one hour and one use, to an address that has an account. ' +
      'The answer is the same for every address.',
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
    description: 'Sets a new password by a single-use link, ends all sessions and signs in.',
  })
  passwordReset(
    @Ctx() context: Context,
    @Arg('input', () => PasswordResetInput, { description: 'The link.' }) input: PasswordResetInput,
  ): Promise<SignInPayload> {
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const opened = await resetPassword(context.em, input, context);
      if (!opened) return { viewer: null, session: null, secondFactorRequired: true };
      const { user, session } = enter(context, opened);
      return { viewer: user, session, secondFactorRequired: false };
    });
  }
}

async function requestByMail(
  context: Context,
  input: Registration,
): Promise<{ viewer: null; verificationRequired: boolean }> {
  const { browserToken, expiresAt } = await requestRegistration(context.em, input, context);
  context.setBrowser(browserToken, expiresAt);
  return { viewer: null, verificationRequired: true };
}
