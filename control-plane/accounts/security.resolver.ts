/** GraphQL operations of second factors, re-authentication, profile and closing of the caller's account. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { freshUntil } from '../graphql/access.ts';
import { actorOf, Authorized, sessionOf, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { AckPayload } from '../graphql/inputs.ts';
import { inTransaction } from '../database/sql.ts';
import { walletOfUser } from '../wallet/wallet.service.ts';
import type { UserRow } from './account.entity.ts';
import { ViewerPayload } from './account.inputs.ts';
import { userById } from './account.service.ts';
import { confirmTotp, enrolTotp, factorsOf, reauthenticate, removeTotp } from './factor.service.ts';
import type { Reauthentication } from './factor.service.ts';
import { identitiesOf } from './identity.service.ts';
import { notifyOwner } from './notices.ts';
import { relyingPartyOf } from './passkey.challenge.ts';
import { passkeysOf } from './passkey.service.ts';
import { deleteAccount, updateProfile } from './profile.service.ts';
import {
  NotificationPreferences,
  ProfileUpdateInput,
  ReauthenticateInput,
  ReauthenticatePayload,
  SecurityFactors,
  TotpConfirmInput,
  TotpConfirmPayload,
  TotpEnrolPayload,
} from './security.types.ts';
import { markAuthenticated } from './session.service.ts';
import { User } from './user.type.ts';

/** Mutations and fields of account security and profile. */
@Resolver(() => User)
export class SecurityResolver {
  @Authorized('USER')
  @Mutation(() => ReauthenticatePayload, {
    description: 'Checks the credentials again. Sensitive mutations are then allowed for 15 minutes.',
  })
  reauthenticate(
    @Ctx() context: Context,
    @Arg('input', () => ReauthenticateInput, { description: 'Credentials.' }) input: ReauthenticateInput,
  ): Promise<ReauthenticatePayload> {
    return outcome({ validUntil: null }, async () => {
      const session = sessionOf(context);
      // A recent sign-in does not count here, or it could be extended without end.
      const given = { ...credentialsOf(context, input), isFresh: false };
      await reauthenticate(context.em, viewerOf(context).id, given);
      return { validUntil: freshUntil(await markAuthenticated(context.em, session.id)) };
    });
  }

  @Authorized('USER')
  @Mutation(() => TotpEnrolPayload, {
    description: 'Creates a secret for an authenticator app. totpConfirm activates it.',
  })
  totpEnrol(@Ctx() context: Context): Promise<TotpEnrolPayload> {
    return outcome({ otpauthUri: null, secret: null }, () =>
      enrolTotp(context.em, viewerOf(context), context.settings.secretKey),
    );
  }

  @Authorized('USER')
  @Mutation(() => TotpConfirmPayload, {
    description: 'Activates the authenticator app by one of its codes, and returns recovery codes once.',
  })
  totpConfirm(
    @Ctx() context: Context,
    @Arg('input', () => TotpConfirmInput, { description: 'The code.' }) input: TotpConfirmInput,
  ): Promise<TotpConfirmPayload> {
    const { id } = viewerOf(context);
    const { secretKey } = context.settings;
    return outcome({ recoveryCodes: null, viewer: null }, () =>
      inTransaction(context.em, async (em) => {
        const recoveryCodes = await confirmTotp(em, id, { code: input.code, secretKey });
        const viewer = await userById(em, id);
        await notifyOwner(em, viewer, { kind: 'TOTP_ON', ip: context.ip });
        return { recoveryCodes, viewer };
      }),
    );
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Removes the authenticator app and the recovery codes.' })
  totpDisable(
    @Ctx() context: Context,
    @Arg('input', () => ReauthenticateInput, { description: 'Credentials.' }) input: ReauthenticateInput,
  ): Promise<ViewerPayload> {
    return outcome({ viewer: null }, async () => {
      const user = await reauthenticate(context.em, viewerOf(context).id, credentialsOf(context, input));
      await inTransaction(context.em, async (em) => {
        await removeTotp(em, user.id);
        await notifyOwner(em, user, { kind: 'TOTP_OFF', ip: context.ip });
      });
      return { viewer: user };
    });
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, {
    description: 'Changes name, language, time zone and notification preferences.',
  })
  profileUpdate(
    @Ctx() context: Context,
    @Arg('input', () => ProfileUpdateInput, { description: 'The changes.' }) input: ProfileUpdateInput,
  ): Promise<ViewerPayload> {
    return outcome({ viewer: null }, async () => ({
      viewer: await updateProfile(context.em, viewerOf(context).id, input),
    }));
  }

  @Authorized('USER')
  @Mutation(() => AckPayload, {
    description:
      'Closes the account permanently. Deletes address, name, password and chats; keys stop working.',
  })
  accountDelete(
    @Ctx() context: Context,
    @Arg('input', () => ReauthenticateInput, { description: 'Credentials.' }) input: ReauthenticateInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      const { id } = await reauthenticate(context.em, viewerOf(context).id, credentialsOf(context, input));
      await context.playground.forget(id);
      await deleteAccount(context.em, id, actorOf(context));
      await context.playground.keys.destroy(id);
      context.setSession(null);
      return { ok: true };
    });
  }

  @FieldResolver(() => SecurityFactors, { description: 'Credentials with which the user can sign in.' })
  async securityFactors(@Root() user: UserRow, @Ctx() context: Context): Promise<SecurityFactors> {
    return {
      hasPassword: Boolean(user.passwordHash),
      ...(await factorsOf(context.em, user.id)),
      passkeys: await passkeysOf(context.em, user.id),
      linkedIdentities: await identitiesOf(context.em, user.id),
    };
  }

  @FieldResolver(() => NotificationPreferences, { description: 'Which mails the user gets.' })
  async notificationPreferences(
    @Root() user: UserRow,
    @Ctx() context: Context,
  ): Promise<NotificationPreferences> {
    const wallet = await walletOfUser(context.em, user.id);
    return {
      lowBalanceThreshold: wallet?.lowBalanceThreshold ?? null,
      poolExpiry: user.notifyPoolExpiry,
      paymentReceipts: user.notifyPaymentReceipts,
      storefrontOpening: user.notifyStorefront,
      security: true,
    };
  }
}

function credentialsOf(context: Context, input: ReauthenticateInput): Reauthentication {
  const { ip, settings } = context;
  const { id: sessionId, authenticatedAt } = sessionOf(context);
  const isFresh = freshUntil(authenticatedAt) > new Date();
  const party = relyingPartyOf(settings);
  return { ...input, ip, sessionId, isFresh, secretKey: settings.secretKey, party };
}
