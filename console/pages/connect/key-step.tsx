/** Step two of the quickstart: an existing key, or a new one whose secret is shown here. */
import { CircleAlert, KeyRound } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { Banner } from '../../components/notice.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { useTranslation } from '../../translation.ts';
import type { Key } from '../keys/documents.ts';
import { maskedOf } from '../keys/key-state.ts';
import { type GROUPS, NEW_KEY } from '../keys/search.ts';
import { SecretFrame } from '../keys/secret-frame.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { type NewKey, useNewKey } from './use-new-key.ts';

interface KeyStepProps {
  keys: readonly Key[];
  groups: readonly (typeof GROUPS)[number][];
  /** The id of the chosen key, or NEW_KEY. */
  chosen: string;
  onChoose: (id: string) => void;
  /** The key that was created on this page. */
  made: NewKey | undefined;
  onMade: (made: NewKey) => void;
  /** The name of a new key. */
  name: string;
}

/** The step. */
export function KeyStep({ keys, groups, chosen, onChoose, made, onMade, name }: KeyStepProps) {
  const { t } = useTranslation();
  if (made) return <Secret made={made} />;
  const wordOf = (key: Key) => `${key.name} (${maskedOf(key) ?? key.id})`;
  const options = keys.map((key) => ({ value: key.id, word: wordOf(key) }));
  return (
    <div className="flex flex-col gap-4">
      {keys.length > 0 && (
        <SelectField
          label={t('quickstart.key')}
          value={chosen}
          options={[...options, { value: NEW_KEY, word: t('quickstart.newKey') }]}
          onChange={(event) => onChoose(event.target.value)}
        />
      )}
      {chosen === NEW_KEY && <Create name={name} group={groups[0] ?? 'DEFAULT'} onMade={onMade} />}
    </div>
  );
}

function Secret({ made: { key, secret } }: { made: NewKey }) {
  const { t } = useTranslation();
  return (
    <>
      <SecretFrame apiKey={key} secret={secret} />
      <p className="mt-2 text-hint text-ink-2">{t('quickstart.once')}</p>
      <LeaveGuard />
    </>
  );
}

interface CreateProps extends Pick<KeyStepProps, 'name' | 'onMade'> {
  group: (typeof GROUPS)[number];
}

function Create({ name, group, onMade }: CreateProps) {
  const { t } = useTranslation();
  const { busy, failure, make } = useNewKey(onMade);
  return (
    <div className="flex flex-col items-start gap-2">
      {failure !== undefined && (
        <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
          {t('quickstart.createFailed', { reason: failure })}
        </Banner>
      )}
      <Button
        variant="primary"
        busy={busy}
        icon={<KeyRound size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => void make({ name, group })}
      >
        {busy ? t('quickstart.creating') : t('quickstart.create')}
      </Button>
      <p className="text-hint text-ink-2">{t('quickstart.newKeyNote', { name })}</p>
    </div>
  );
}
