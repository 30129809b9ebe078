/** Disabling and enabling keys, confirmed by the number of nodes that have applied it. */
import { useMutation } from 'urql';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { DisableKey, EnableKey } from './changes.ts';
import type { Key } from './documents.ts';

interface Acknowledged {
  appliedNodes: number;
  pendingNodes: readonly unknown[];
}

/** On how many of the connected nodes a change is in force, and which words say so. */
export function spreadOf({ appliedNodes: applied, pendingNodes }: Acknowledged) {
  const all = applied + pendingNodes.length;
  const how = all === 0 ? 'None' : applied === all ? 'All' : 'Pending';
  return { applied, all, how } as const;
}

/** Both acts; each says its outcome in a toast. `disable` tells whether the key is disabled now. */
export function useKeySwitch() {
  const { t } = useTranslation();
  const [, sendDisable] = useMutation(DisableKey);
  const [, sendEnable] = useMutation(EnableKey);
  const failureWords = useFailureWords();
  const toast = useToast();

  const enable = async ({ id, name }: Key) => {
    const { data, error } = await sendEnable({ input: { id } });
    const reason = failureWords(error, data?.apiKeyEnable.userErrors);
    toast(
      reason === undefined
        ? { text: t('keys.enabled', { name }) }
        : { text: t('keys.notDone', { name, reason }), failed: true },
    );
  };

  const disable = async (key: Key, leaked = false): Promise<boolean> => {
    const { name } = key;
    const { data, error } = await sendDisable({ input: { id: key.id, leaked } });
    const reason = failureWords(error, data?.apiKeyDisable.userErrors);
    if (!data || reason !== undefined) {
      toast({ text: t('keys.notDone', { name, reason: reason ?? '' }), failed: true });
      return false;
    }
    const spread = spreadOf(data.apiKeyDisable);
    const undo = { word: t('keys.undo'), run: () => void enable(key) };
    toast({
      text: t(`keys.disabled${spread.how}`, { name, ...spread }),
      ...(leaked ? {} : { action: undo }),
    });
    return true;
  };

  return { disable, enable };
}
