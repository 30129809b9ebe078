/** Actions on learned items: undo one, or dismiss the notice. */
import { useEffect } from 'react';
import { useClient } from 'urql';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { type Learned, LearnedSeen, LearnedUndo } from './learned-documents.ts';

/** Ids that one mutation takes. */
const IDS_MAX = 100;

/** Returns functions that undo one item and dismiss the notice. The service learns that it is shown. */
export function useLearnedActions(learned: readonly Learned[], refresh: () => void) {
  const { t } = useTranslation();
  const client = useClient();
  const words = useFailureWords();
  const toast = useToast();
  const ids = learned.slice(0, IDS_MAX).map(({ item }) => item.id);
  const times = learned.map(({ learnedAt }) => learnedAt).join();
  // The notice counts as seen only while the page is visible.
  useEffect(() => {
    const tell = () => {
      if (document.visibilityState !== 'visible') return;
      document.removeEventListener('visibilitychange', tell);
      void client.mutation(LearnedSeen, { input: { ids, dismiss: false } }).toPromise();
    };
    document.addEventListener('visibilitychange', tell);
    tell();
    return () => document.removeEventListener('visibilitychange', tell);
  }, [client, ids.join(), times]);
  const undo = async (id: string) => {
    const { data, error } = await client.mutation(LearnedUndo, { input: { ids: [id] } });
    const reason = words(error, data?.learnedItemsUndo.userErrors);
    toast(reason === undefined ? { text: t('items.undone') } : { text: reason, failed: true });
    refresh();
  };
  const dismiss = async () => {
    const { data, error } = await client.mutation(LearnedSeen, { input: { ids, dismiss: true } });
    const reason = words(error, data?.learnedItemsSeen.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
    refresh();
  };
  return { undo, dismiss };
}
