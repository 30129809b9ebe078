/** Every resolver class of the API. */
import type { NonEmptyArray } from 'type-graphql';
import { AccountResolver, SessionResolver } from '../accounts/account.resolver.ts';
import { AdminUsersResolver } from '../accounts/admin.resolver.ts';
import { ExportResolver } from '../accounts/export.resolver.ts';
import { IdentityResolver } from '../accounts/identity.resolver.ts';
import { PasskeyResolver } from '../accounts/passkey.resolver.ts';
import { PolicyResolver, PolicyVersionsResolver } from '../accounts/policy.resolver.ts';
import { RegistrationResolver } from '../accounts/registration.resolver.ts';
import { SecurityResolver } from '../accounts/security.resolver.ts';
import { TokenResolver } from '../accounts/token.resolver.ts';
import { AddressResolver } from '../graphql/address.resolver.ts';
import { AdminResolver } from '../graphql/admin-query.ts';
import { AuditChainResolver } from '../audit/chain.resolver.ts';
import { AuditResolver } from '../audit/audit.resolver.ts';
import { AuditChoicesResolver } from '../audit/choices.resolver.ts';
import { RateLimitResolver } from '../budget/budget.resolver.ts';
import { CatalogResolver } from '../catalog/catalog.resolver.ts';
import { ChatParametersResolver } from '../catalog/chat-parameters.resolver.ts';
import { ModelHealthResolver } from '../catalog/health.resolver.ts';
import {
  ChatItemsResolver,
  ItemResolver,
  PersonalItemsResolver,
  SwitchItemsResolver,
} from '../intelligence/item.resolver.ts';
import { LearnedItemsResolver } from '../intelligence/learned.resolver.ts';
import { AdminPersonalIntelligenceResolver } from '../intelligence/personal.resolver.ts';
import { PersonalIntelligenceResolver } from '../intelligence/switch.resolver.ts';
import {
  ConfigurationExportResolver,
  ConfigurationResolver,
} from '../configuration/configuration.resolver.ts';
import { DownloadResolver } from '../downloads/download.resolver.ts';
import { KeyFields, RotationFields } from '../keys/key.fields.ts';
import { AdminKeysResolver, UserKeysResolver } from '../keys/key.lists.ts';
import { KeyResolver } from '../keys/key.resolver.ts';
import { GlobalObjectResolver } from './lookup.resolver.ts';
import { AuditTargetResolver } from './lookup.targets.ts';
import { NodeCreditResolver } from '../nodes/credit.resolver.ts';
import { NodeForgetResolver } from '../nodes/forget.resolver.ts';
import { SystemHealthResolver } from '../nodes/health.resolver.ts';
import {
  AdminNodesResolver,
  LeaseNodeResolver,
  NodeResolver,
  PendingNodesResolver,
} from '../nodes/node.resolver.ts';
import { IdempotencyResolver } from '../nodes/idempotency.resolver.ts';
import { PermitResolver } from '../nodes/permit.resolver.ts';
import {
  ConversationResolver,
  PersonalChatsResolver,
  PlaygroundHomeResolver,
  UserPlaygroundResolver,
} from '../playground/conversation.resolver.ts';
import { MessageResolver } from '../playground/message.resolver.ts';
import {
  CatalogModelPoolFields,
  PoolFields,
  PoolModelFields,
  PoolPeriodFields,
  RoutePoolFields,
} from '../pools/pool.fields.ts';
import {
  AdminPoolsResolver,
  KeyPoolResolver,
  PoolResolver,
  UsagePoolResolver,
  UserPoolsResolver,
} from '../pools/pool.resolver.ts';
import { QuoteResolver, StorefrontResolver } from '../pools/storefront.resolver.ts';
import { SyncResolver } from '../nodes/sync.resolver.ts';
import { UsageReportResolver } from '../nodes/usage-report.resolver.ts';
import { ModelRoutingResolver } from '../catalog/routing.resolver.ts';
import { ModelListResolver } from '../upstreams/model-list.resolver.ts';
import { ProbingResolver } from '../upstreams/probing.resolver.ts';
import { ProviderQuirks, QuirkResolver, RouteQuirks } from '../upstreams/quirk.resolver.ts';
import { UpstreamPresetsResolver } from '../upstreams/presets.type.ts';
import {
  CredentialUseResolver,
  ProviderHealthResolver,
  RouteCircuitResolver,
} from '../upstreams/health.resolver.ts';
import {
  AdminUpstreamsResolver,
  ModelRoutesResolver,
  ProviderFields,
  RouteFields,
  UpstreamResolver,
} from '../upstreams/upstream.resolver.ts';
import { KeySnippetsResolver, ModelSnippetsResolver } from '../snippets/snippet.resolver.ts';
import { AdminIncidentsResolver, StatusResolver } from '../status/status.resolver.ts';
import { RetentionResolver } from '../usage/retention.resolver.ts';
import { AttemptFields } from '../usage/attempt.resolver.ts';
import { DayTimesResolver } from '../usage/day-times.resolver.ts';
import { ReceiptResolver } from '../usage/receipt.resolver.ts';
import { TrafficResolver } from '../usage/traffic.resolver.ts';
import { UsageFields } from '../usage/usage.fields.ts';
import {
  AdminUsageResolver,
  SummaryFields,
  UsageResolver,
  UserUsageResolver,
} from '../usage/usage.resolver.ts';
import {
  AdminChainResolver,
  ChainResolver,
  DepositAddressResolver,
  TopUpDepositResolver,
} from '../payments/crypto/crypto.resolver.ts';
import { AutoTopUpResolver } from '../payments/auto.resolver.ts';
import {
  AdminPaymentSettingsResolver,
  PaymentCorrectionFields,
  PaymentOptionsResolver,
  PaymentSettingsResolver,
} from '../payments/settings.resolver.ts';
import { AdminTopUpsResolver, TopUpResolver, WalletTopUpsResolver } from '../payments/topup.resolver.ts';
import { WebhookResolver } from '../webhooks/webhook.resolver.ts';
import { EntryFields } from '../wallet/entry.fields.ts';
import { LedgerCheckResolver } from '../wallet/check.resolver.ts';
import { BudgetResolver } from '../wallet/budget.resolver.ts';
import { HistoryResolver } from '../wallet/history.resolver.ts';
import { SpendAlertResolver } from '../wallet/spend-alert.resolver.ts';
import { AdminLedgerResolver, UserWalletResolver, WalletResolver } from '../wallet/wallet.resolver.ts';

export const resolvers: NonEmptyArray<new () => object> = [
  AccountResolver,
  SessionResolver,
  PolicyResolver,
  PolicyVersionsResolver,
  RegistrationResolver,
  SecurityResolver,
  PasskeyResolver,
  IdentityResolver,
  ExportResolver,
  TokenResolver,
  WebhookResolver,
  AdminUsersResolver,
  AddressResolver,
  RetentionResolver,
  RateLimitResolver,
  ConfigurationExportResolver,
  ConfigurationResolver,
  DownloadResolver,
  GlobalObjectResolver,
  AdminResolver,
  AuditResolver,
  AuditChoicesResolver,
  AuditTargetResolver,
  AuditChainResolver,
  LedgerCheckResolver,
  CatalogResolver,
  ChatParametersResolver,
  ModelHealthResolver,
  StatusResolver,
  AdminIncidentsResolver,
  KeyResolver,
  KeyFields,
  RotationFields,
  UserKeysResolver,
  AdminKeysResolver,
  KeySnippetsResolver,
  ModelSnippetsResolver,
  UpstreamResolver,
  ModelRoutingResolver,
  ModelListResolver,
  QuirkResolver,
  ProviderQuirks,
  RouteQuirks,
  ProbingResolver,
  ProviderHealthResolver,
  CredentialUseResolver,
  RouteCircuitResolver,
  NodeCreditResolver,
  AdminUpstreamsResolver,
  UpstreamPresetsResolver,
  ProviderFields,
  RouteFields,
  ModelRoutesResolver,
  NodeResolver,
  AdminNodesResolver,
  NodeForgetResolver,
  SystemHealthResolver,
  PendingNodesResolver,
  LeaseNodeResolver,
  SyncResolver,
  IdempotencyResolver,
  PermitResolver,
  UsageReportResolver,
  UserUsageResolver,
  SummaryFields,
  AdminUsageResolver,
  TrafficResolver,
  UsageResolver,
  UsageFields,
  DayTimesResolver,
  ReceiptResolver,
  AttemptFields,
  UserWalletResolver,
  WalletResolver,
  BudgetResolver,
  HistoryResolver,
  SpendAlertResolver,
  EntryFields,
  AdminLedgerResolver,
  TopUpResolver,
  WalletTopUpsResolver,
  AdminTopUpsResolver,
  PaymentOptionsResolver,
  AdminPaymentSettingsResolver,
  PaymentSettingsResolver,
  PaymentCorrectionFields,
  AutoTopUpResolver,
  DepositAddressResolver,
  TopUpDepositResolver,
  ChainResolver,
  AdminChainResolver,
  PersonalIntelligenceResolver,
  SwitchItemsResolver,
  PersonalItemsResolver,
  ItemResolver,
  ChatItemsResolver,
  LearnedItemsResolver,
  AdminPersonalIntelligenceResolver,
  UserPlaygroundResolver,
  PlaygroundHomeResolver,
  ConversationResolver,
  PersonalChatsResolver,
  MessageResolver,
  StorefrontResolver,
  QuoteResolver,
  PoolResolver,
  PoolFields,
  PoolModelFields,
  PoolPeriodFields,
  UserPoolsResolver,
  AdminPoolsResolver,
  KeyPoolResolver,
  UsagePoolResolver,
  CatalogModelPoolFields,
  RoutePoolFields,
];
