/** Reveals a key: its secret is created, shown once, and removed from the page when the dialog closes. */
import { CircleAlert, Eye } from 'lucide-react';
import { useState } from 'react';
import { useClient } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Banner } from '../../components/notice.tsx';
import { OnceDialog } from '../../components/once-dialog.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { KeySetUps } from '../connect/key-set-up.tsx';
import { RevealKey } from './changes.ts';
import type { Key } from './documents.ts';
import { SecretFrame } from './secret-frame.tsx';
import { rolloutOf } from './use-key-switch.ts';
import type { Acknowledgements } from './use-key-switch.ts';

interface RevealProps {
  apiKey: Key;
  onClose: () => void;
}

/** Asks for confirmation, then shows the secret. */
export function RevealDialog({ apiKey, onClose }: RevealProps) {
  const { t } = useTranslation();
  const { revealed, failure, fetching, reveal } = useReveal(apiKey.id);
  const { name } = apiKey;
  if (revealed !== undefined) return <SecretDialog {...{ apiKey, onClose, ...revealed }} />;
  const footer = (
    <>
      <Button variant="ghost" onClick={onClose}>
        {t('dialog.cancel')}
      </Button>
      <Button
        variant="primary"
        busy={fetching}
        icon={<Eye size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => void reveal()}
      >
        {fetching ? t('reveal.revealing') : t('reveal.button')}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('reveal.ready', { name })}
      sentence={t('reveal.readySentence')}
      footer={footer}
    >
      {failure === undefined ? (
        <p className="text-ink-2">{t('reveal.nobody')}</p>
      ) : (
        <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
          {t('reveal.failed', { reason: failure })}
        </Banner>
      )}
    </Dialog>
  );
}

/** The secret, and the nodes that accept it. */
interface Revealed {
  secret: string;
  nodes: Acknowledgements;
}

// Not useMutation: its state would keep the secret as long as the page exists.
function useReveal(id: string) {
  const client = useClient();
  const failureWords = useFailureWords();
  const [revealed, setRevealed] = useState<Revealed>();
  const [failure, setFailure] = useState<string>();
  const [fetching, setFetching] = useState(false);
  const reveal = async () => {
    setFetching(true);
    const { data, error } = await client.mutation(RevealKey, { input: { id } }).toPromise();
    setFetching(false);
    setFailure(failureWords(error, data?.apiKeyReveal.userErrors));
    const answer = data?.apiKeyReveal;
    const secret = answer?.secret ?? undefined;
    if (answer && secret !== undefined) setRevealed({ secret, nodes: answer });
  };
  return { revealed, failure, fetching, reveal };
}

function SecretDialog({ apiKey, secret, nodes, onClose }: RevealProps & Revealed) {
  const { t, i18n } = useTranslation();
  const rollout = rolloutOf(nodes, i18n.language);
  const words = {
    title: t('reveal.title'),
    sentence: t('reveal.sentence'),
    stored: t('reveal.stored'),
    done: t('reveal.done'),
    notYet: t('reveal.notYet'),
    guardTitle: t('reveal.guardTitle'),
    guardSentence: t('reveal.guardSentence'),
    back: t('reveal.back'),
    closeAnyway: t('reveal.closeAnyway'),
  };
  return (
    <OnceDialog words={words} onClose={onClose}>
      <SecretFrame apiKey={apiKey} secret={secret} />
      {rollout.state === 'Pending' && (
        <div className="mt-3">
          <Banner tone="warn" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
            {t('reveal.pendingNodes', rollout)}
          </Banner>
        </div>
      )}
      {apiKey.pool && (
        <p className="mt-3 text-table text-ink-2">
          {t('reveal.poolOnly', { address: apiKey.baseUrl, name: apiKey.pool.name })}
        </p>
      )}
      <div className="mt-6">
        <KeySetUps keyId={apiKey.id} secret={secret} />
      </div>
    </OnceDialog>
  );
}
