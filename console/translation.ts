/** The texts of the interface: finds them by key, fills them in, and re-renders when the language changes. */
import { useSyncExternalStore } from 'react';
import { createStore } from './components/store.ts';
import type { en } from './messages/en.ts';

/** The paths of texts. Texts with a plural are named without `_one` and `_other`. */
type KeysOf<Words> = {
  [Name in keyof Words & string]: Words[Name] extends string
    ? WithoutPlural<Name>
    : `${Name}.${KeysOf<Words[Name]>}`;
}[keyof Words & string];
type WithoutPlural<Name extends string> = Name extends `${infer Base}_${'one' | 'other'}` ? Base : Name;

/** Returns the text of a key, with its placeholders filled in; `count` also chooses the plural. */
export type TFunction = (key: KeysOf<typeof en>, values?: object) => string;

interface Words {
  readonly [name: string]: string | Words;
}

const FALLBACK = 'en';
const PLACEHOLDER = /\{\{(\w+)\}\}/g;

/** The texts that were loaded, by language. */
const loaded = new Map<string, Words>();

/** Adds texts of a language. They are shown when something renders next. */
export function addTexts(language: string, words: object): void {
  loaded.set(language, merged(loaded.get(language) ?? {}, words));
}

function merged(words: Words, more: object): Words {
  const both: Record<string, string | Words> = { ...words };
  for (const [name, value] of Object.entries(more)) {
    const known = both[name];
    both[name] = typeof value === 'string' ? value : merged(typeof known === 'object' ? known : {}, value);
  }
  return both;
}

interface Translation {
  t: TFunction;
  /** Gives the language, for dates and numbers that the browser formats. */
  i18n: { readonly language: string };
}

const translation = createStore(translationTo(FALLBACK));

/** The current language. */
export function currentLanguage(): string {
  return translation.get().i18n.language;
}

/** Shows the texts of this language; English where one is missing. */
export function changeLanguage(language: string): void {
  translation.set(translationTo(language));
}

/** Returns the texts in the current language. */
export function useTranslation(): Translation {
  return useSyncExternalStore(translation.subscribe, translation.get, translation.get);
}

/** The texts of a language; English where one is missing. */
export function translationTo(language: string): Translation {
  const plurals = new Intl.PluralRules(language);
  const number = new Intl.NumberFormat(language);
  const t: TFunction = (key, values = {}) => {
    const filling = new Map<string, unknown>(Object.entries(values));
    const count = filling.get('count');
    const plural = typeof count === 'number' ? [`${key}_${plurals.select(count)}`, `${key}_other`] : [];
    const names = [...plural, key];
    const text = find(language, names) ?? find(FALLBACK, names) ?? key;
    return text.replace(PLACEHOLDER, (_, name: string) => textOf(filling.get(name), number));
  };
  return { t, i18n: { language } };
}

/** A value in a text, with the digits of large numbers in groups; nothing for a missing one. */
function textOf(value: unknown, number: Intl.NumberFormat): string {
  if (typeof value === 'number') return Number.isInteger(value) ? number.format(value) : String(value);
  return typeof value === 'string' ? value : '';
}

/** The text of the first of these keys that has one. */
function find(language: string, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    let found: string | Words | undefined = loaded.get(language);
    for (const name of key.split('.')) found = typeof found === 'object' ? found[name] : undefined;
    if (typeof found === 'string') return found;
  }
  return undefined;
}
