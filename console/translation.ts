/** The words of the interface for components, which are drawn again when another language is chosen. */
import i18next, { type i18n, type TFunction } from 'i18next';
import { useSyncExternalStore } from 'react';
import { createStore } from './components/store.ts';

interface Translation {
  /** The words of a key, with what its braces stand for. */
  t: TFunction;
  /** Names the language for dates and figures, which the browser writes. */
  i18n: i18n;
}

const translation = createStore<Translation>({ t: i18next.t, i18n: i18next });
i18next.on('languageChanged', (language) => {
  translation.set({ t: i18next.getFixedT(language), i18n: i18next });
});

/** The words in the language of now. `react-i18next` does more, in every component that has words. */
export function useTranslation(): Translation {
  return useSyncExternalStore(translation.subscribe, translation.get);
}
