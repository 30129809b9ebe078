/** GraphQL operations to sign in with an identity provider, and to link and unlink identities. */
import 'reflect-metadata';
import { Arg, Ctx, Field, InputType, Mutation, ObjectType, Resolver } from 'type-graphql';
import { Authorized, Public, sessionOf, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserError, UserFailure } from '../graphql/errors.ts';
import { IdInput } from '../graphql/inputs.ts';
import { WebAddress } from '../graphql/scalars.ts';
import { SecondFactorInput, SignInPayload, ViewerPayload } from './account.inputs.ts';
import { userById } from './account.service.ts';
import { countAction } from './rate-limits.ts';
import { setSessionCookie } from './session-cookie.ts';
import { signInByTicket } from './identity.service.ts';
import { beginFlow } from './oidc.flow.ts';
import { ensureBrowserToken } from './oidc.routes.ts';
import { removeSignInMethod } from './sign-in-methods.ts';

/** Input of `oidcSignIn`. */
@InputType({ description: 'Completes a sign-in at the identity provider.' })
export class OidcSignInInput extends SecondFactorInput {
  @Field(() => String, {
    description: 'The text after `#oidc=` in the address /sign-in to which the browser came back.',
  })
  ticket!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Version of the privacy policy in force. Needed for a new user, after POLICY_NOT_ACCEPTED.',
  })
  acceptPolicyVersion?: string | null;

  @Field(() => String, { nullable: true, description: 'Language of the console for a new user.' })
  locale?: string | null;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Whether the session ends after 14 days without use (true) or after one day (false).',
  })
  rememberMe!: boolean;
}

/** Result of `identityLinkStart`. */
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

/** Mutations of identities at the identity provider. */
@Resolver()
export class IdentityResolver {
  @Public()
  @Mutation(() => SignInPayload, {
    description:
      'Opens a session after a sign-in at the identity provider, and sets the session cookie. For a new ' +
      'user the first call fails with POLICY_NOT_ACCEPTED; a second call with the same ticket and ' +
      'acceptPolicyVersion creates the account.',
  })
  oidcSignIn(
    @Ctx() context: Context,
    @Arg('input', () => OidcSignInInput, { description: 'The ticket.' }) input: OidcSignInInput,
  ): Promise<SignInPayload> {
    const { em, browserToken, settings } = context;
    return outcome({ viewer: null, session: null, secondFactorRequired: false }, async () => {
      const given = { ...input, browserToken, secretKey: settings.secretKey };
      const { user, session } = setSessionCookie(context, await signInByTicket(em, given, context));
      return { viewer: user, session, secondFactorRequired: false };
    }).then((payload) => ({
      ...payload,
      secondFactorRequired: payload.userErrors.some(({ code }) => code === 'TOTP_REQUIRED'),
    }));
  }

  @Authorized('USER')
  @Mutation(() => IdentityLinkPayload, {
    description: "Starts to link an identity at the provider to the caller's account.",
  })
  identityLinkStart(@Ctx() context: Context): Promise<IdentityLinkPayload> {
    return outcome({ url: null }, async () => {
      const { em, oidc: client, settings, ip } = context;
      const { id: userId, email } = viewerOf(context);
      sessionOf(context);
      if (!client)
        throw new UserFailure('CONFLICT', 'No identity provider is configured. Sign in another way.');
      await countAction(em, { purpose: 'oidc', email, ip });
      const browserToken = ensureBrowserToken(context);
      const url = await beginFlow(em, { client, settings, browserToken, userId, next: null });
      return { url };
    });
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, {
    description: 'Unlinks an identity. Fails with CONFLICT if it is the only way to sign in.',
  })
  identityUnlink(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The identity.' }) input: IdInput,
  ): Promise<ViewerPayload> {
    const { em, ip } = context;
    const { id: userId } = viewerOf(context);
    return outcome({ viewer: null }, async () => {
      await removeSignInMethod(em, 'identity', { userId, id: input.id, ip });
      return { viewer: await userById(em, userId) };
    });
  }
}
