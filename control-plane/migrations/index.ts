/**
 * All migrations, in the order in which they run. A released migration is never edited; changes are new
 * files.
 */
import type { Migration } from '@mikro-orm/migrations';
import { Accounts } from './001-accounts.ts';
import { Wallet } from './002-wallet.ts';
import { Catalog } from './003-catalog.ts';
import { Upstreams } from './004-upstreams.ts';
import { Keys } from './005-keys.ts';
import { Usage } from './006-usage.ts';
import { Nodes } from './007-nodes.ts';
import { Access } from './008-access.ts';
import { Claims } from './009-claims.ts';
import { Playground } from './010-playground.ts';
import { Pools } from './011-pools.ts';
import { Permits } from './012-permits.ts';
import { Mail } from './013-mail.ts';
import { UsagePartitions } from './014-usage-partitions.ts';
import { WaysIn } from './015-ways-in.ts';
import { QueryBudget } from './016-query-budget.ts';
import { SumsOfUsers } from './017-sums-of-users.ts';
import { Attempts } from './018-attempts.ts';
import { StorefrontNotice } from './019-storefront-notice.ts';
import { UpstreamHealth } from './020-upstream-health.ts';
import { LowBalance } from './021-low-balance.ts';
import { DeprecationNote } from './022-deprecation-note.ts';
import { OldSecrets } from './023-old-secrets.ts';
import { Jobs } from './024-jobs.ts';
import { IdempotencyAge } from './025-idempotency-age.ts';
import { UnrevealedKeys } from './026-unrevealed-keys.ts';
import { ChatSizes } from './027-chat-sizes.ts';
import { ProcessStarts } from './028-process-starts.ts';
import { Watch } from './029-watch.ts';
import { RefusedQuestions } from './030-refused-questions.ts';
import { MonthsAgain } from './031-months-again.ts';
import { RepeatedRefusals } from './032-repeated-refusals.ts';
import { PassUnknown } from './033-pass-unknown.ts';
import { Payments } from './034-payments.ts';
import { Chains } from './037-chains.ts';
import { SealedChats } from './039-sealed-chats.ts';
import { PersonalItems } from './040-personal-items.ts';
import { PlayMoney } from './041-play-money.ts';
import { LearnedItems } from './042-learned-items.ts';
import { PersonalShare } from './043-personal-share.ts';
import { CachedTokens } from './045-cached-tokens.ts';
import { UpstreamTokens } from './046-upstream-tokens.ts';
import { ConfigLeases } from './047-config-leases.ts';
import { UsedLines } from './049-used-lines.ts';
import { UpstreamAccess } from './050-upstream-access.ts';
import { MessagePositions } from './051-message-positions.ts';
import { Quirks } from './055-quirks.ts';
import { Routing } from './056-routing.ts';
import { Probing } from './057-probing.ts';
import { AttemptCards } from './058-attempt-cards.ts';
import { StoredState } from './060-stored-state.ts';
import { ForgottenCards } from './061-forgotten-cards.ts';
import { LeftAlone } from './068-left-alone.ts';

type MigrationClass = new (...parameters: ConstructorParameters<typeof Migration>) => Migration;

/** The migrations with the names under which the database records them. */
export const migrations: readonly { name: string; class: MigrationClass }[] = [
  { name: '001-accounts', class: Accounts },
  { name: '002-wallet', class: Wallet },
  { name: '003-catalog', class: Catalog },
  { name: '004-upstreams', class: Upstreams },
  { name: '005-keys', class: Keys },
  { name: '006-usage', class: Usage },
  { name: '007-nodes', class: Nodes },
  { name: '008-access', class: Access },
  { name: '009-claims', class: Claims },
  { name: '010-playground', class: Playground },
  { name: '011-pools', class: Pools },
  { name: '012-permits', class: Permits },
  { name: '013-mail', class: Mail },
  { name: '014-usage-partitions', class: UsagePartitions },
  { name: '015-ways-in', class: WaysIn },
  { name: '016-query-budget', class: QueryBudget },
  { name: '017-sums-of-users', class: SumsOfUsers },
  { name: '018-attempts', class: Attempts },
  { name: '019-storefront-notice', class: StorefrontNotice },
  { name: '020-upstream-health', class: UpstreamHealth },
  { name: '021-low-balance', class: LowBalance },
  { name: '022-deprecation-note', class: DeprecationNote },
  { name: '023-old-secrets', class: OldSecrets },
  { name: '024-jobs', class: Jobs },
  { name: '025-idempotency-age', class: IdempotencyAge },
  { name: '026-unrevealed-keys', class: UnrevealedKeys },
  { name: '027-chat-sizes', class: ChatSizes },
  { name: '028-process-starts', class: ProcessStarts },
  { name: '029-watch', class: Watch },
  { name: '030-refused-questions', class: RefusedQuestions },
  { name: '031-months-again', class: MonthsAgain },
  { name: '032-repeated-refusals', class: RepeatedRefusals },
  { name: '033-pass-unknown', class: PassUnknown },
  { name: '034-payments', class: Payments },
  { name: '037-chains', class: Chains },
  { name: '039-sealed-chats', class: SealedChats },
  { name: '040-personal-items', class: PersonalItems },
  { name: '041-play-money', class: PlayMoney },
  { name: '042-learned-items', class: LearnedItems },
  { name: '043-personal-share', class: PersonalShare },
  { name: '045-cached-tokens', class: CachedTokens },
  { name: '046-upstream-tokens', class: UpstreamTokens },
  { name: '047-config-leases', class: ConfigLeases },
  { name: '049-used-lines', class: UsedLines },
  { name: '050-upstream-access', class: UpstreamAccess },
  { name: '051-message-positions', class: MessagePositions },
  { name: '055-quirks', class: Quirks },
  { name: '056-routing', class: Routing },
  { name: '057-probing', class: Probing },
  { name: '058-attempt-cards', class: AttemptCards },
  { name: '060-stored-state', class: StoredState },
  { name: '061-forgotten-cards', class: ForgottenCards },
  { name: '068-left-alone', class: LeftAlone },
];
