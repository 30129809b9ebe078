/** Gives components their texts, and re-renders them when the language changes. */
import i18next, { type i18n, type TFunction } from 'i18next';
import { useSyncExternalStore } from 'react';
import { createStore } from './components/store.ts';

interface Translation {
  /** Returns the text of a key, with its placeholders filled in. */
  t: TFunction;
  /** Gives the language, for dates and numbers that the browser formats. */
  i18n: i18n;
}

const translation = createStore<Translation>({ t: i18next.t, i18n: i18next });
i18next.on('languageChanged', (language) => {
  translation.set({ t: i18next.getFixedT(language), i18n: i18next });
});

/** Returns the texts in the current language. Smaller than `react-i18next`, which every page would load. */
export function useTranslation(): Translation {
  return useSyncExternalStore(translation.subscribe, translation.get);
}
