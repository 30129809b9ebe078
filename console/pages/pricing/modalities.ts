/** Names of the kinds of input and output of a model. */
import { listText } from '../../components/list-text.ts';
import { useTranslation } from '../../translation.ts';

const MODALITIES = ['text', 'image', 'audio', 'file', 'video', 'embedding'] as const;

/** Returns a function that writes modalities as a list. Unknown ones are shown by the service's name. */
export function useModalities(): (names: readonly string[]) => string {
  const { t, i18n } = useTranslation();
  const word = (name: string) => t(`model.modalities.${modalityOf(name)}`, { name });
  return (names) => listText(names.map(word), i18n.language);
}

function modalityOf(name: string): (typeof MODALITIES)[number] | 'other' {
  return MODALITIES.find((known) => known === name) ?? 'other';
}
