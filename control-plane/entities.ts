/** The entity schemas of all domains, for the ORM. */
import {
  AccountLinkSchema,
  PolicyAcceptanceSchema,
  PolicyVersionSchema,
  SessionSchema,
  UserSchema,
} from './accounts/account.entity.ts';
import { AccessTokenSchema } from './accounts/token.entity.ts';
import { GroupRatioSchema, ModelSchema } from './catalog/model.entity.ts';
import { PersonalSwitchSchema } from './intelligence/switch.entity.ts';
import { KeySchema } from './keys/key.entity.ts';
import { ConversationMessageSchema, ConversationSchema } from './playground/conversation.entity.ts';
import { ChainSchema, TokenSchema } from './payments/crypto/chain.entity.ts';
import { DepositSchema } from './payments/crypto/deposit.rows.ts';
import { PaymentSettingsSchema } from './payments/settings.entity.ts';
import { TopUpSchema } from './payments/topup.entity.ts';
import { PoolModelSchema, PoolPeriodSchema, PoolQuoteSchema, PoolSchema } from './pools/pool.entity.ts';
import { StorefrontSchema } from './pools/storefront.entity.ts';
import { CredentialSchema, ProviderSchema, RouteSchema } from './upstreams/upstream.entity.ts';

export const entities = [
  UserSchema,
  SessionSchema,
  PolicyVersionSchema,
  PolicyAcceptanceSchema,
  AccountLinkSchema,
  AccessTokenSchema,
  ModelSchema,
  GroupRatioSchema,
  ProviderSchema,
  CredentialSchema,
  RouteSchema,
  KeySchema,
  PersonalSwitchSchema,
  ConversationSchema,
  ConversationMessageSchema,
  StorefrontSchema,
  PoolSchema,
  PoolModelSchema,
  PoolPeriodSchema,
  PoolQuoteSchema,
  PaymentSettingsSchema,
  ChainSchema,
  TokenSchema,
  DepositSchema,
  TopUpSchema,
];
