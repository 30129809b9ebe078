/** Settings of payments for administrators, and what customers are offered. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import { actorOf, Authorized, Public } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { AdminReasonInput } from '../graphql/inputs.ts';
import { WebAddress } from '../graphql/scalars.ts';
import { WEBHOOK_PATH } from './card/webhook.routes.ts';
import { depositOptions } from './crypto/deposit.queries.ts';
import { listCorrections } from './health.service.ts';
import type { PaymentSettingsRow } from './settings.entity.ts';
import {
  addWebhookSecret,
  offersCard,
  paymentSettings,
  removeWebhookSecret,
  setPaymentSettings,
  webhookSecrets,
} from './settings.service.ts';
import type { SettingsChange } from './settings.service.ts';
import {
  AdminPaymentSettingsInput,
  AdminWebhookSecretInput,
  PaymentCorrection,
  PaymentOptions,
  PaymentSettings,
  PaymentSettingsPayload,
  WebhookSecret,
} from './settings.type.ts';
import type { TopUpRow } from './topup.entity.ts';
import { topUpsByIds } from './topup.queries.ts';
import { TopUp } from './topup.type.ts';

/** Payment methods that are offered to customers. Each method adds its own terms. */
@Resolver(() => PaymentOptions)
export class PaymentOptionsResolver {
  @Public()
  @Query(() => PaymentOptions, { description: 'How customers can pay.' })
  async paymentOptions(@Ctx() { em }: Context): Promise<PaymentOptions> {
    const row = await paymentSettings(em);
    const card = offersCard(row) ? row : null;
    const crypto = await depositOptions(em);
    const methods = [card ? (['CARD'] as const) : [], crypto.length > 0 ? (['CRYPTO'] as const) : []].flat();
    return { methods, card, crypto };
  }
}

/** The settings for administrators. */
@Resolver(() => AdminQuery)
export class AdminPaymentSettingsResolver {
  @FieldResolver(() => PaymentSettings, { description: 'Settings of payments by card.' })
  paymentSettings(@Ctx() { em }: Context): Promise<PaymentSettingsRow> {
    return paymentSettings(em);
  }

  @FieldResolver(() => [PaymentCorrection], {
    description: 'What comparisons with the card processor corrected, newest first, at most 100.',
  })
  paymentCorrections(@Ctx() { em }: Context): Promise<PaymentCorrection[]> {
    return listCorrections(em);
  }
}

/** The top-up of a correction. */
@Resolver(() => PaymentCorrection)
export class PaymentCorrectionFields {
  @FieldResolver(() => TopUp, { nullable: true, description: 'The top-up that was corrected.' })
  async topUp(@Root() { topUpId }: PaymentCorrection, @Ctx() { batches }: Context): Promise<TopUpRow | null> {
    return topUpId ? ((await batches.load(topUpsByIds, topUpId)) ?? null) : null;
  }
}

/** Fields and mutations of the settings. */
@Resolver(() => PaymentSettings)
export class PaymentSettingsResolver {
  @FieldResolver(() => [WebhookSecret], {
    description: 'Secrets with which events may be signed, oldest first.',
  })
  webhookSecrets(@Ctx() { em }: Context): Promise<WebhookSecret[]> {
    return webhookSecrets(em);
  }

  @FieldResolver(() => WebAddress, { description: 'Address to which the processor must send its events.' })
  webhookAddress(@Ctx() { settings }: Context): string {
    return `${settings.consoleUrl}${WEBHOOK_PATH}`;
  }

  @Authorized('ADMIN')
  @Mutation(() => PaymentSettingsPayload, {
    description: 'Changes the settings of payments by card; audited.',
  })
  adminPaymentSettingsSet(
    @Ctx() context: Context,
    @Arg('input', () => AdminPaymentSettingsInput, { description: 'The changes.' })
    input: AdminPaymentSettingsInput,
  ): Promise<PaymentSettingsPayload> {
    return changed(() => setPaymentSettings(context.em, input, changeOf(context)));
  }

  @Authorized('ADMIN')
  @Mutation(() => PaymentSettingsPayload, { description: 'Adds a secret with which events may be signed.' })
  adminWebhookSecretAdd(
    @Ctx() context: Context,
    @Arg('input', () => AdminWebhookSecretInput, { description: 'The secret.' })
    input: AdminWebhookSecretInput,
  ): Promise<PaymentSettingsPayload> {
    return changed(() => addWebhookSecret(context.em, input, changeOf(context)));
  }

  @Authorized('ADMIN')
  @Mutation(() => PaymentSettingsPayload, {
    description: 'Removes a secret: events signed with it are refused.',
  })
  adminWebhookSecretRemove(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The secret.' }) input: AdminReasonInput,
  ): Promise<PaymentSettingsPayload> {
    return changed(() => removeWebhookSecret(context.em, input, changeOf(context)));
  }
}

function changeOf(context: Context): SettingsChange {
  return { actor: actorOf(context), settings: context.settings };
}

async function changed(work: () => Promise<PaymentSettingsRow>): Promise<PaymentSettingsPayload> {
  return outcome({ settings: null }, async () => ({ settings: await work() }));
}
