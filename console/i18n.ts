/**
 * Loads the texts of the console. English texts of the frame are built in; other areas and languages load on
 * demand. The compiler checks the keys.
 */
import { recall, remember } from './components/device-storage.ts';
import { frame } from './messages/en/frame.ts';
import { addTexts, changeLanguage, currentLanguage } from './translation.ts';

export const LANGUAGES = ['en', 'zh-CN'] as const;
export type Language = (typeof LANGUAGES)[number];
/** The name of each language in that language. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', 'zh-CN': '简体中文' };

/** Test language: accented and longer English. Reveals untranslated texts and texts without room to grow. */
const PSEUDO = 'en-XA';

export type Area =
  | 'frame'
  | 'account'
  | 'keys'
  | 'connect'
  | 'wallet'
  | 'usage'
  | 'pricing'
  | 'receipt'
  | 'admin'
  | 'operation'
  | 'overview'
  | 'upstreams'
  | 'status'
  | 'compare'
  | 'incidents'
  | 'people'
  | 'personal'
  | 'profile'
  | 'playground'
  | 'prompts'
  | 'help'
  | 'conformance'
  | 'webhooks'
  | 'privacy'
  | 'pools'
  | 'purchase'
  | 'storefront'
  | 'payments'
  | 'cards'
  | 'chains';
/** Loads a file of texts, which exports one object. Destructuring it here would add 2 kB to every page. */
export type LoadWords = () => Promise<Record<string, object>>;

/** English texts by area. */
const ENGLISH: Record<Area, LoadWords> = {
  frame: () => Promise.resolve({ frame }),
  account: () => import('./messages/en/account.ts'),
  keys: () => import('./messages/en/keys.ts'),
  connect: () => import('./messages/en/connect.ts'),
  wallet: () => import('./messages/en/wallet.ts'),
  usage: () => import('./messages/en/usage.ts'),
  receipt: () => import('./messages/en/receipt.ts'),
  pricing: () => import('./messages/en/pricing.ts'),
  pools: () => import('./messages/en/pools.ts'),
  purchase: () => import('./messages/en/purchase.ts'),
  admin: () => import('./messages/en/admin.ts'),
  operation: () => import('./messages/en/operation.ts'),
  overview: () => import('./messages/en/overview.ts'),
  upstreams: () => import('./messages/en/upstreams.ts'),
  people: () => import('./messages/en/people.ts'),
  status: () => import('./messages/en/status.ts'),
  compare: () => import('./messages/en/compare.ts'),
  incidents: () => import('./messages/en/incidents.ts'),
  storefront: () => import('./messages/en/storefront.ts'),
  payments: () => import('./messages/en/payments.ts'),
  cards: () => import('./messages/en/cards.ts'),
  chains: () => import('./messages/en/chains.ts'),
  personal: () => import('./messages/en/personal.ts'),
  profile: () => import('./messages/en/profile.ts'),
  help: () => import('./messages/en/help.ts'),
  conformance: () => import('./messages/en/conformance.ts'),
  webhooks: () => import('./messages/en/webhooks.ts'),
  privacy: () => import('./messages/en/privacy.ts'),
  playground: () => import('./messages/en/playground.ts'),
  prompts: () => import('./messages/en/prompts.ts'),
};

/** Texts of other languages are listed in scripts of their own, which most visitors do not need. */
const WORDS: Record<Language, () => Promise<Record<Area, LoadWords>>> = {
  en: () => Promise.resolve(ENGLISH),
  'zh-CN': async () => (await import('./messages/zh-cn/areas.ts')).AREAS,
};

const wanted = new Set<Area>(['frame']);

/** Starts in the language chosen on this device, else in the browser's first available language. */
export async function startI18n(): Promise<void> {
  const chosen = recall('language') ?? '';
  if (chosen === PSEUDO) return apply(PSEUDO);
  const known = [chosen, ...navigator.languages].map(closest).find((name) => name !== undefined);
  await setLanguage(known ?? 'en');
}

/** Switches the language of all texts; with `keep`, also remembers it on this device. */
export async function setLanguage(language: Language, keep = false): Promise<void> {
  await apply(language);
  if (keep) remember('language', language);
}

/** Loads the texts of these areas; await it before showing pages that use them. */
export async function loadWords(areas: readonly Area[]): Promise<void> {
  for (const area of areas) wanted.add(area);
  await Promise.all(areas.map((area) => load(currentLanguage(), area)));
}

async function apply(language: Language | typeof PSEUDO): Promise<void> {
  await Promise.all([...wanted].map((area) => load(language, area)));
  changeLanguage(language);
  document.documentElement.lang = language;
}

const loaded = new Set<string>();

async function load(language: string, area: Area): Promise<void> {
  if (loaded.has(`${language} ${area}`)) return;
  const areas = await WORDS[closest(language) ?? 'en']();
  const [words = {}] = Object.values(await areas[area]());
  const shown = language === PSEUDO ? (await import('./messages/pseudo.ts')).pseudo(words) : words;
  addTexts(language, shown);
  loaded.add(`${language} ${area}`);
}

function closest(name: string): Language | undefined {
  const [primary] = name.split('-');
  return (
    LANGUAGES.find((language) => language === name) ??
    LANGUAGES.find((language) => language.split('-')[0] === primary)
  );
}
