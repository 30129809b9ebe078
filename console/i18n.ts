/**
 * Loads the texts of the console. English texts of the frame are built in; other areas and languages load on
 * demand. The compiler checks the keys.
 */
import i18next from 'i18next';
import { recall, remember } from './components/theme.ts';
import type { en } from './messages/en.ts';
import { frame } from './messages/en/frame.ts';

export const LANGUAGES = ['en', 'zh-CN'] as const;
export type Language = (typeof LANGUAGES)[number];
/** The name of each language in that language. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', 'zh-CN': '简体中文' };

/** Test language: accented and longer English. Reveals untranslated texts and texts without room to grow. */
const PSEUDO = 'en-XA';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation';
    resources: { translation: typeof en };
  }
}

export type Area =
  | 'frame'
  | 'account'
  | 'keys'
  | 'wallet'
  | 'usage'
  | 'pricing'
  | 'receipt'
  | 'admin'
  | 'operation'
  | 'people'
  | 'personal'
  | 'profile'
  | 'playground'
  | 'help'
  | 'privacy'
  | 'pools'
  | 'purchase'
  | 'storefront';
type Words = () => Promise<object>;

const WORDS: Record<Language, Record<Area, Words>> = {
  en: {
    frame: () => Promise.resolve(frame),
    account: async () => (await import('./messages/en/account.ts')).account,
    keys: async () => (await import('./messages/en/keys.ts')).keys,
    wallet: async () => (await import('./messages/en/wallet.ts')).wallet,
    usage: async () => (await import('./messages/en/usage.ts')).usage,
    receipt: async () => (await import('./messages/en/receipt.ts')).receipt,
    pricing: async () => (await import('./messages/en/pricing.ts')).pricing,
    pools: async () => (await import('./messages/en/pools.ts')).pools,
    purchase: async () => (await import('./messages/en/purchase.ts')).purchase,
    admin: async () => (await import('./messages/en/admin.ts')).admin,
    operation: async () => (await import('./messages/en/operation.ts')).operation,
    people: async () => (await import('./messages/en/people.ts')).people,
    storefront: async () => (await import('./messages/en/storefront.ts')).storefront,
    personal: async () => (await import('./messages/en/personal.ts')).personal,
    profile: async () => (await import('./messages/en/profile.ts')).profile,
    help: async () => (await import('./messages/en/help.ts')).help,
    privacy: async () => (await import('./messages/en/privacy.ts')).privacy,
    playground: async () => (await import('./messages/en/playground.ts')).playground,
  },
  'zh-CN': {
    frame: async () => (await import('./messages/zh-cn/frame.ts')).frame,
    account: async () => (await import('./messages/zh-cn/account.ts')).account,
    keys: async () => (await import('./messages/zh-cn/keys.ts')).keys,
    wallet: async () => (await import('./messages/zh-cn/wallet.ts')).wallet,
    usage: async () => (await import('./messages/zh-cn/usage.ts')).usage,
    receipt: async () => (await import('./messages/zh-cn/receipt.ts')).receipt,
    pricing: async () => (await import('./messages/zh-cn/pricing.ts')).pricing,
    pools: async () => (await import('./messages/zh-cn/pools.ts')).pools,
    purchase: async () => (await import('./messages/zh-cn/purchase.ts')).purchase,
    admin: async () => (await import('./messages/zh-cn/admin.ts')).admin,
    operation: async () => (await import('./messages/zh-cn/operation.ts')).operation,
    people: async () => (await import('./messages/zh-cn/people.ts')).people,
    storefront: async () => (await import('./messages/zh-cn/storefront.ts')).storefront,
    personal: async () => (await import('./messages/zh-cn/personal.ts')).personal,
    profile: async () => (await import('./messages/zh-cn/profile.ts')).profile,
    help: async () => (await import('./messages/zh-cn/help.ts')).help,
    privacy: async () => (await import('./messages/zh-cn/privacy.ts')).privacy,
    playground: async () => (await import('./messages/zh-cn/playground.ts')).playground,
  },
};

const wanted = new Set<Area>(['frame']);

/** Starts in the language chosen on this device, else in the browser's first available language. */
export async function startI18n(): Promise<void> {
  await i18next.init({ lng: 'en', fallbackLng: 'en', resources: {}, interpolation: { escapeValue: false } });
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
  await Promise.all(areas.map((area) => load(i18next.language, area)));
}

async function apply(language: Language | typeof PSEUDO): Promise<void> {
  await Promise.all([...wanted].map((area) => load(language, area)));
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

const loaded = new Set<string>();

async function load(language: string, area: Area): Promise<void> {
  if (loaded.has(`${language} ${area}`)) return;
  const words = await WORDS[closest(language) ?? 'en'][area]();
  const shown = language === PSEUDO ? (await import('./messages/pseudo.ts')).pseudo(words) : words;
  i18next.addResourceBundle(language, 'translation', shown, true, true);
  loaded.add(`${language} ${area}`);
}

function closest(name: string): Language | undefined {
  const [primary] = name.split('-');
  return (
    LANGUAGES.find((language) => language === name) ??
    LANGUAGES.find((language) => language.split('-')[0] === primary)
  );
}
