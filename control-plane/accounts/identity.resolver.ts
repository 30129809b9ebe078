/** Signing in with an identity provider, and linking identities, on the API. */
import 'reflect-metadata';
import { Arg, Ctx, Field, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Authorized, Public, sessionOf, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome, UserError, UserFailure } from '../errors.ts';
import { IdInput } from '../inputs.ts';
import { WebAddress } from '../scalars.ts';
import { SignInPayload, ViewerPayload } from './account.inputs.ts';
import { userById } from './account.service.ts';
import { beginAttempt } from './attempts.ts';
import { enter } from './enter.ts';
import { signInByTicket, unlinkIdentity } from './identity.service.ts';
import { beginFlow } from './oidc.flow.ts';
import { markBrowser } from './oidc.routes.ts';

/** Ends signing in at a provider. */
@InputType({ description: 'Ends signing in at a provider.' })
export class OidcSignInInput {
  @Field(() => String, {
    description: 'What stands after `#oidc=` where the provider sent the browser back to /sign-in.',
  })
  ticket!: string;

  @Field(() => String, {
    nullable: true,
    description: 'For somebody new, after POLICY_NOT_ACCEPTED: the version of the privacy policy in force.',
  })
  acceptPolicyVersion?: string | null;

  @Field(() => String, { nullable: true, description: 'Language of the console, for somebody new.' })
  locale?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The code of the authenticator app, where one is in use.',
  })
  totpCode?: string | null;

  @Field(() => String, { nullable: true, description: 'A recovery code instead; each works once.' })
  recoveryCode?: string | null;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Stay signed in for 14 days without use instead of one day.',
  })
  rememberMe!: boolean;
}

/** Where to send the browser. */
@ObjectType({ description: 'Where to send the browser to link an identity.' })
export class IdentityLinkPayload {
  @Field(() => WebAddress, {
    nullable: true,
    description: 'A page of the provider, which sends the browser back to /profile/security?oidc=linked.',
  })
  url?: string | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Identities at a provider. */
@Resolver()
export class IdentityResolver {
  @Public()
  @Mutation(() => SignInPayload, {
    description:
      'Opens a session after signing in at a provider. Somebody new is answered POLICY_NOT_ACCEPTED first ' +
      'and gets an account with the same ticket and the version accepted. Sets the session cookie.',
  })
  oidcSignIn(
    @Ctx() context: Context,
    @Arg('input', () => OidcSignInInput, { description: 'The ticket.' }) input: OidcSignInInput,
  ): Promise<SignInPayload> {
    const { em, browserToken, settings } = context;
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const given = { ...input, browserToken, secretKey: settings.secretKey };
      const { user, session } = enter(context, await signInByTicket(em, given, context));
      return { viewer: user, session, secondFactorRequired: false };
    }).then((payload) => ({
      ...payload,
      secondFactorRequired: payload.userErrors.some(({ code }) => code === 'TOTP_REQUIRED'),
    }));
  }

  @Authorized('USER')
  @Mutation(() => IdentityLinkPayload, {
    description: 'Begins to link an identity at the provider to the account of this session.',
  })
  identityLinkStart(@Ctx() context: Context): Promise<IdentityLinkPayload> {
    return outcome({ url: null }, async () => {
      const { em, oidc: client, settings, ip } = context;
      const { id: userId, email } = viewerOf(context);
      sessionOf(context);
      if (!client) throw new UserFailure('CONFLICT', 'There is no identity provider here.');
      await beginAttempt(em, { purpose: 'oidc', email, ip });
      const browserToken = markBrowser(context);
      const url = await beginFlow(em, { client, settings, browserToken, userId, next: null });
      return { url };
    });
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, {
    description: 'Unlinks an identity; CONFLICT for the only way to sign in.',
  })
  identityUnlink(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The identity.' }) input: IdInput,
  ): Promise<ViewerPayload> {
    const { id } = viewerOf(context);
    return outcome({ viewer: null }, async () => {
      await unlinkIdentity(context.em, id, { id: input.id, ip: context.ip });
      return { viewer: await userById(context.em, id) };
    });
  }
}
