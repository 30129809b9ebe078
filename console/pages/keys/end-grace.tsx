/** Ends the grace period of an old secret early, after showing its last use. */
import { useMutation } from 'urql';
import { Rich } from '../../components/rich.tsx';
import { Stamp } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { TaskDialog } from '../task-dialog.tsx';
import { EndGrace } from './changes.ts';
import type { Key } from './documents.ts';
import { LastUseOfOld } from './last-use-of-old.tsx';
import { rolloutOf } from './use-key-switch.ts';

/** The dialog. A toast says how many nodes refuse the old secret. */
export function EndGraceDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const { t, i18n } = useTranslation();
  const [, end] = useMutation(EndGrace);
  const toast = useToast();
  const { id, name, rotation } = apiKey;
  const send = async () => {
    const { data, error } = await end({ input: { id } });
    const userErrors = data?.apiKeyGraceEnd.userErrors;
    if (data && userErrors?.length === 0) {
      const rollout = rolloutOf(data.apiKeyGraceEnd, i18n.language);
      toast({ text: t(`keys.graceEnded${rollout.state}`, { name, ...rollout }) });
    }
    return { error, userErrors };
  };
  return (
    <TaskDialog
      title={t('keys.graceTitle', { name })}
      button={t('keys.graceButton')}
      destructive
      send={send}
      onClose={onClose}
    >
      <p>
        <Rich
          text={t('keys.graceSentence', { suffix: rotation?.previousSuffix ?? '' })}
          marks={{
            code: (inside) => <code>{inside}</code>,
            time: () => rotation?.graceEndsAt && <Stamp at={rotation.graceEndsAt} />,
          }}
        />
      </p>
      <p>{rotation && <LastUseOfOld at={rotation.previousLastUsedAt} />}</p>
    </TaskDialog>
  );
}
