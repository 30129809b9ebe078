/** English texts of the console; their keys are the keys of every language. */
import { account } from './en/account.ts';
import { admin } from './en/admin.ts';
import { cards } from './en/cards.ts';
import { chains } from './en/chains.ts';
import { compare } from './en/compare.ts';
import { conformance } from './en/conformance.ts';
import { connect } from './en/connect.ts';
import { frame } from './en/frame.ts';
import { help } from './en/help.ts';
import { incidents } from './en/incidents.ts';
import { keys } from './en/keys.ts';
import { operation } from './en/operation.ts';
import { overview } from './en/overview.ts';
import { payments } from './en/payments.ts';
import { people } from './en/people.ts';
import { personal } from './en/personal.ts';
import { playground } from './en/playground.ts';
import { prompts } from './en/prompts.ts';
import { pools } from './en/pools.ts';
import { pricing } from './en/pricing.ts';
import { privacy } from './en/privacy.ts';
import { profile } from './en/profile.ts';
import { purchase } from './en/purchase.ts';
import { receipt } from './en/receipt.ts';
import { status } from './en/status.ts';
import { storefront } from './en/storefront.ts';
import { upstreams } from './en/upstreams.ts';
import { usage } from './en/usage.ts';
import { wallet } from './en/wallet.ts';
import { webhooks } from './en/webhooks.ts';

export const en = {
  ...frame,
  ...account,
  ...keys,
  ...connect,
  ...wallet,
  usage: { ...usage.usage, ...receipt.usage },
  ...pricing,
  ...pools,
  ...purchase,
  ...storefront,
  payments: { ...payments.payments, ...cards.payments, ...chains.payments },
  ...personal,
  admin: { ...admin.admin, ...people.admin, ...operation.admin, ...upstreams.admin, ...overview.admin },
  ...playground,
  ...prompts,
  ...profile,
  ...help,
  ...conformance,
  ...status,
  ...compare,
  ...incidents,
  ...privacy,
  ...webhooks,
} as const;
