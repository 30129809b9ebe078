/** Disables and enables keys; a toast shows how many nodes have applied the change. */
import { useMutation } from 'urql';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { DisableKey, EnableKey } from './changes.ts';
import type { Key } from './documents.ts';

/** Nodes that have applied a change, and nodes that have not yet. */
interface Acknowledgements {
  appliedNodes: number;
  pendingNodes: readonly unknown[];
}

/**
 * How many of the connected nodes have applied a change; `state` is the end of the key of the toast's text.
 */
export function rolloutOf({ appliedNodes: applied, pendingNodes }: Acknowledgements) {
  const all = applied + pendingNodes.length;
  const state = all === 0 ? 'None' : applied === all ? 'All' : 'Pending';
  return { applied, all, state } as const;
}

/** Returns both actions. Each shows its result in a toast. `disable` returns whether it succeeded. */
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
    const rollout = rolloutOf(data.apiKeyDisable);
    const undo = { word: t('keys.undo'), run: () => void enable(key) };
    toast({
      text: t(`keys.disabled${rollout.state}`, { name, ...rollout }),
      ...(leaked ? {} : { action: undo }),
    });
    return true;
  };

  return { disable, enable };
}
