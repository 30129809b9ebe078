/** Changes whether an item is pinned, or used at all. */
import { useClient } from 'urql';
import { useToast } from '../../components/toast.tsx';
import { useFailureWords } from '../failure-words.ts';
import { type Item, ItemUpdate } from './documents.ts';

/** Returns a function that changes an item, and says why if it cannot. */
export function useItemChange(onChanged: () => void) {
  const client = useClient();
  const words = useFailureWords();
  const toast = useToast();
  return async (item: Pick<Item, 'id' | 'version'>, change: { pinned?: boolean; suppressed?: boolean }) => {
    const input = { id: item.id, version: item.version, ...change };
    const { data, error } = await client.mutation(ItemUpdate, { input }).toPromise();
    const reason = words(error, data?.derivedItemUpdate.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
    onChanged();
  };
}
