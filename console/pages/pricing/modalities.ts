/** Names of the kinds of input and output of a model. */
import { useTranslation } from '../../translation.ts';

const MODALITIES = ['text', 'image', 'audio', 'file', 'video', 'embedding'] as const;

/** Returns a function that writes modalities as a list. Unknown ones are shown by the service's name. */
export function useModalities(): (names: readonly string[]) => string {
  const { t, i18n } = useTranslation();
  const list = new Intl.ListFormat(i18n.language);
  return (names) => list.format(names.map((name) => t(`model.modalities.${modalityOf(name)}`, { name })));
}

function modalityOf(name: string): (typeof MODALITIES)[number] | 'other' {
  return MODALITIES.find((known) => known === name) ?? 'other';
}
