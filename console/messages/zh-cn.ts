/** Simplified Chinese texts of the console. */
import { account } from './zh-cn/account.ts';
import { admin } from './zh-cn/admin.ts';
import { cards } from './zh-cn/cards.ts';
import { chains } from './zh-cn/chains.ts';
import { compare } from './zh-cn/compare.ts';
import { conformance } from './zh-cn/conformance.ts';
import { connect } from './zh-cn/connect.ts';
import { frame } from './zh-cn/frame.ts';
import { help } from './zh-cn/help.ts';
import { incidents } from './zh-cn/incidents.ts';
import { keys } from './zh-cn/keys.ts';
import { operation } from './zh-cn/operation.ts';
import { overview } from './zh-cn/overview.ts';
import { payments } from './zh-cn/payments.ts';
import { people } from './zh-cn/people.ts';
import { personal } from './zh-cn/personal.ts';
import { playground } from './zh-cn/playground.ts';
import { prompts } from './zh-cn/prompts.ts';
import { pools } from './zh-cn/pools.ts';
import { pricing } from './zh-cn/pricing.ts';
import { privacy } from './zh-cn/privacy.ts';
import { profile } from './zh-cn/profile.ts';
import { purchase } from './zh-cn/purchase.ts';
import { receipt } from './zh-cn/receipt.ts';
import { status } from './zh-cn/status.ts';
import { storefront } from './zh-cn/storefront.ts';
import { upstreams } from './zh-cn/upstreams.ts';
import { usage } from './zh-cn/usage.ts';
import { wallet } from './zh-cn/wallet.ts';
import { webhooks } from './zh-cn/webhooks.ts';

export const zhCN = {
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
};
