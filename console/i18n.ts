/**
 * The words of the interface: English is built in, other languages load when chosen. Keys are checked by the
 * compiler.
 */
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { recall, remember } from './components/theme.ts';
import { en } from './messages/en.ts';

export const LANGUAGES = ['en', 'zh-CN'] as const;
export type Language = (typeof LANGUAGES)[number];
/** Each language under its own name, for who cannot read the present one. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', 'zh-CN': '简体中文' };

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation';
    resources: { translation: typeof en };
  }
}

/** Starts in the language chosen on this device, else in the browser's first one that we have. */
export async function startI18n(): Promise<void> {
  await i18next
    .use(initReactI18next)
    .init({
      lng: 'en',
      fallbackLng: 'en',
      resources: { en: { translation: en } },
      interpolation: { escapeValue: false },
    });
  const wanted = [recall('language') ?? '', ...navigator.languages]
    .map(closest)
    .find((name) => name !== undefined);
  await setLanguage(wanted ?? 'en');
}

/** Switches all words at once and remembers the choice on this device. */
export async function setLanguage(language: Language, keep = false): Promise<void> {
  if (language === 'zh-CN' && !i18next.hasResourceBundle(language, 'translation')) {
    const { zhCN } = await import('./messages/zh-cn.ts');
    i18next.addResourceBundle(language, 'translation', zhCN);
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  if (keep) remember('language', language);
}

function closest(name: string): Language | undefined {
  const [primary] = name.split('-');
  return (
    LANGUAGES.find((language) => language === name) ??
    LANGUAGES.find((language) => language.split('-')[0] === primary)
  );
}
