/** Where the Simplified Chinese texts of each area are. */
import type { Area, LoadWords } from '../../i18n.ts';

export const AREAS: Record<Area, LoadWords> = {
  frame: () => import('./frame.ts'),
  account: () => import('./account.ts'),
  keys: () => import('./keys.ts'),
  wallet: () => import('./wallet.ts'),
  usage: () => import('./usage.ts'),
  receipt: () => import('./receipt.ts'),
  pricing: () => import('./pricing.ts'),
  pools: () => import('./pools.ts'),
  purchase: () => import('./purchase.ts'),
  admin: () => import('./admin.ts'),
  operation: () => import('./operation.ts'),
  upstreams: () => import('./upstreams.ts'),
  people: () => import('./people.ts'),
  storefront: () => import('./storefront.ts'),
  payments: () => import('./payments.ts'),
  cards: () => import('./cards.ts'),
  chains: () => import('./chains.ts'),
  personal: () => import('./personal.ts'),
  profile: () => import('./profile.ts'),
  help: () => import('./help.ts'),
  conformance: () => import('./conformance.ts'),
  webhooks: () => import('./webhooks.ts'),
  privacy: () => import('./privacy.ts'),
  playground: () => import('./playground.ts'),
};
