/** Second factors, proofs, profile and closing of an account on the API. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { freshUntil } from '../access.ts';
import { actorOf, Authorized, sessionOf, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome } from '../errors.ts';
import { AckPayload } from '../inputs.ts';
import { inTransaction } from '../sql.ts';
import { walletOfUser } from '../wallet/wallet.service.ts';
import type { UserRow } from './account.entity.ts';
import { ViewerPayload } from './account.inputs.ts';
import { userById } from './account.service.ts';
import { confirmTotp, enrolTotp, factorsOf, prove, removeTotp } from './factor.service.ts';
import type { Proof } from './factor.service.ts';
import { identitiesOf } from './identity.service.ts';
import { notify } from './notices.ts';
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

/** What users do for the safety of their accounts. */
@Resolver(() => User)
export class SecurityResolver {
  @Authorized('USER')
  @Mutation(() => ReauthenticatePayload, {
    description:
      'Proves again who sits at this browser, so that sensitive acts pass for a quarter of an hour.',
  })
  reauthenticate(
    @Ctx() context: Context,
    @Arg('input', () => ReauthenticateInput, { description: 'The proof.' }) input: ReauthenticateInput,
  ): Promise<ReauthenticatePayload> {
    return outcome({ validUntil: null }, async () => {
      const session = sessionOf(context);
      // A fresh session proves nothing new, or it would stay fresh for ever.
      await prove(context.em, viewerOf(context).id, { ...proofOf(context, input), isFresh: false });
      return { validUntil: freshUntil(await markAuthenticated(context.em, session.id)) };
    });
  }

  @Authorized('USER')
  @Mutation(() => TotpEnrolPayload, {
    description: 'Makes the secret for an authenticator app; not in force before totpConfirm.',
  })
  totpEnrol(@Ctx() context: Context): Promise<TotpEnrolPayload> {
    return outcome({ otpauthUri: null, secret: null }, () =>
      enrolTotp(context.em, viewerOf(context), context.settings.secretKey),
    );
  }

  @Authorized('USER')
  @Mutation(() => TotpConfirmPayload, {
    description: 'Puts the app into force by one of its codes, and shows the recovery codes once.',
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
        await notify(em, viewer, { kind: 'TOTP_ON', ip: context.ip });
        return { recoveryCodes, viewer };
      }),
    );
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Takes the authenticator app away, and its recovery codes.' })
  totpDisable(
    @Ctx() context: Context,
    @Arg('input', () => ReauthenticateInput, { description: 'The proof.' }) input: ReauthenticateInput,
  ): Promise<ViewerPayload> {
    return outcome({ viewer: null }, async () => {
      const user = await prove(context.em, viewerOf(context).id, proofOf(context, input));
      await inTransaction(context.em, async (em) => {
        await removeTotp(em, user.id);
        await notify(em, user, { kind: 'TOTP_OFF', ip: context.ip });
      });
      return { viewer: user };
    });
  }

  @Authorized('USER')
  @Mutation(() => ViewerPayload, { description: 'Changes name, language, time zone and notices.' })
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
    description: 'Closes the account for good: forgets address, name and password; its keys stop working.',
  })
  accountDelete(
    @Ctx() context: Context,
    @Arg('input', () => ReauthenticateInput, { description: 'The proof.' }) input: ReauthenticateInput,
  ): Promise<AckPayload> {
    return outcome({ ok: false }, async () => {
      const { id } = await prove(context.em, viewerOf(context).id, proofOf(context, input));
      await deleteAccount(context.em, id, actorOf(context));
      context.setSession(null);
      return { ok: true };
    });
  }

  @FieldResolver(() => SecurityFactors, { description: 'How the user signs in.' })
  async securityFactors(@Root() user: UserRow, @Ctx() context: Context): Promise<SecurityFactors> {
    return {
      hasPassword: Boolean(user.passwordHash),
      ...(await factorsOf(context.em, user.id)),
      passkeys: await passkeysOf(context.em, user.id),
      linkedIdentities: await identitiesOf(context.em, user.id),
    };
  }

  @FieldResolver(() => NotificationPreferences, { description: 'What the user is told about.' })
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

function proofOf(context: Context, input: ReauthenticateInput): Proof {
  const { ip, settings } = context;
  const isFresh = freshUntil(sessionOf(context).authenticatedAt) > new Date();
  return { ...input, ip, isFresh, secretKey: settings.secretKey, party: relyingPartyOf(settings) };
}
