/** Disables and enables keys; a toast shows how many nodes have applied the change. */
import { useMutation } from 'urql';
import { stampText } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { DisableKey, EnableKey } from './changes.ts';
import type { Key } from './documents.ts';

/** Nodes that have applied a change, and nodes that may serve and have not yet. */
export interface Acknowledgements {
  appliedNodes: number;
  pendingNodes: readonly { name: string; lastSeenAt: string | null }[];
}

/**
 * How many nodes have applied a change, and the others with their last contact; `state` is the end of the key
 * of the toast's text.
 */
export function rolloutOf({ appliedNodes: applied, pendingNodes }: Acknowledgements, language: string) {
  const all = applied + pendingNodes.length;
  const state = all === 0 ? 'None' : applied === all ? 'All' : 'Pending';
  const nodes = pendingNodes
    .map(({ name, lastSeenAt }) =>
      lastSeenAt === null ? name : `${name} (${stampText(new Date(lastSeenAt), language)})`,
    )
    .join(', ');
  return { applied, all, state, nodes } as const;
}

/** Returns both actions. Each shows its result in a toast. `disable` returns whether it succeeded. */
export function useKeySwitch() {
  const { t, i18n } = useTranslation();
  const [, sendDisable] = useMutation(DisableKey);
  const [, sendEnable] = useMutation(EnableKey);
  const failureWords = useFailureWords();
  const toast = useToast();

  const enable = async ({ id, name }: Key) => {
    const { data, error } = await sendEnable({ input: { id } });
    const reason = failureWords(error, data?.apiKeyEnable.userErrors);
    if (!data || reason !== undefined) {
      toast({ text: t('keys.notDone', { name, reason: reason ?? '' }), failed: true });
      return;
    }
    const rollout = rolloutOf(data.apiKeyEnable, i18n.language);
    toast({ text: t(`keys.enabled${rollout.state}`, { name, ...rollout }) });
  };

  const disable = async (key: Key, leaked = false): Promise<boolean> => {
    const { name } = key;
    const { data, error } = await sendDisable({ input: { id: key.id, leaked } });
    const reason = failureWords(error, data?.apiKeyDisable.userErrors);
    if (!data || reason !== undefined) {
      toast({ text: t('keys.notDone', { name, reason: reason ?? '' }), failed: true });
      return false;
    }
    const rollout = rolloutOf(data.apiKeyDisable, i18n.language);
    const undo = { word: t('keys.undo'), run: () => void enable(key) };
    toast({
      text: t(`keys.disabled${rollout.state}`, { name, ...rollout }),
      ...(leaked ? {} : { action: undo }),
    });
    return true;
  };

  return { disable, enable };
}
