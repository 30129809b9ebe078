/** The dialog that rotates a key, with a grace period for the old secret. */
import { CircleAlert } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Segmented } from '../../components/field.tsx';
import { Banner } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { useIdempotencyKey } from '../idempotency.ts';
import { RotateKey } from './changes.ts';
import type { Key } from './documents.ts';
import { RecentUse } from './recent-use.tsx';

const HOUR_SECONDS = 3_600;
const GRACES = ['0', '1', '6', '24'] as const;
type Grace = (typeof GRACES)[number];

interface RotateProps {
  apiKey: Key;
  onClose: () => void;
  onRotated: (key: Key) => void;
}

/** The dialog. `onRotated` gets the key, to reveal its new secret. */
export function RotateDialog({ apiKey, onClose, onRotated }: RotateProps) {
  const { t } = useTranslation();
  const [grace, setGrace] = useState<Grace>('24');
  const [failure, setFailure] = useState<string>();
  const [{ fetching }, rotate] = useMutation(RotateKey);
  const idempotencyKeyFor = useIdempotencyKey();
  const failureWords = useFailureWords();
  const send = async () => {
    const values = { id: apiKey.id, graceSeconds: Number(grace) * HOUR_SECONDS };
    const { data, error } = await rotate({ input: { ...values, idempotencyKey: idempotencyKeyFor(values) } });
    const key = data?.apiKeyRotate.apiKey;
    if (key) onRotated(key);
    else setFailure(failureWords(error, data?.apiKeyRotate.userErrors));
  };
  const footer = (
    <>
      <Button variant="ghost" onClick={onClose}>
        {t('dialog.cancel')}
      </Button>
      <Button variant="primary" busy={fetching} onClick={() => void send()}>
        {fetching ? t('keys.rotating') : t('keys.rotateButton')}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('keys.rotateTitle', { name: apiKey.name })}
      sentence={t('keys.rotateSentence')}
      footer={footer}
    >
      <div className="flex flex-col items-start gap-2">
        {failure !== undefined && (
          <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
            {failure}
          </Banner>
        )}
        <GraceField grace={grace} onChange={setGrace} />
      </div>
      <div className="mt-5">
        <RecentUse keyId={apiKey.id} />
      </div>
    </Dialog>
  );
}

function GraceField({ grace, onChange }: { grace: Grace; onChange: (grace: Grace) => void }) {
  const { t } = useTranslation();
  return (
    <>
      <span className="text-table font-[550]">{t('keys.grace')}</span>
      <Segmented
        label={t('keys.grace')}
        value={grace}
        onChange={onChange}
        wide
        options={GRACES.map((value) => ({ value, word: t(`keys.grace${value}`) }))}
      />
    </>
  );
}
