/**
 * Revealing a key: its secret is made, shown once, and gone from this page when the dialog closes on
 * purpose.
 */
import { CircleAlert, Eye } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useClient } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox } from '../../components/field.tsx';
import { Banner } from '../../components/notice.tsx';
import { useFailureWords } from '../failure-words.ts';
import { ClientSetup } from './client-setup.tsx';
import { type Key, RevealKey } from './documents.ts';
import { SecretFrame } from './secret-frame.tsx';

interface RevealProps {
  apiKey: Key;
  baseAddress: string;
  onClose: () => void;
}

/** The explicit step before, then the secret. */
export function RevealDialog({ apiKey, baseAddress, onClose }: RevealProps) {
  const { t } = useTranslation();
  const { secret, failure, fetching, reveal } = useReveal(apiKey.id);
  const { name } = apiKey;
  if (secret !== undefined) return <SecretDialog {...{ apiKey, secret, baseAddress, onClose }} />;
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
        <p className="text-ink-2">{t('reveal.sentence')}</p>
      ) : (
        <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
          {t('reveal.failed', { reason: failure })}
        </Banner>
      )}
    </Dialog>
  );
}

// Not useMutation: its state would keep the secret for as long as the page lives.
function useReveal(id: string) {
  const client = useClient();
  const failureWords = useFailureWords();
  const [secret, setSecret] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const [fetching, setFetching] = useState(false);
  const reveal = async () => {
    setFetching(true);
    const { data, error } = await client.mutation(RevealKey, { input: { id } }).toPromise();
    setFetching(false);
    setFailure(failureWords(error, data?.apiKeyReveal.userErrors));
    setSecret(data?.apiKeyReveal.secret ?? undefined);
  };
  return { secret, failure, fetching, reveal };
}

function SecretDialog({ apiKey, secret, baseAddress, onClose }: RevealProps & { secret: string }) {
  const { t } = useTranslation();
  const [stored, setStored] = useState(false);
  const [asked, setAsked] = useState(false);
  useLeaveGuard(!stored);
  const close = () => (stored ? onClose() : setAsked(true));
  const footer = <StoredFooter stored={stored} onStored={setStored} onDone={onClose} />;
  return (
    <>
      <Dialog
        open
        wide
        onClose={close}
        title={t('reveal.title')}
        sentence={t('reveal.sentence')}
        footer={footer}
      >
        <SecretFrame apiKey={apiKey} secret={secret} baseAddress={baseAddress} />
        <div className="mt-6">
          <ClientSetup secret={secret} baseAddress={baseAddress} />
        </div>
      </Dialog>
      {asked && <CloseGuard onBack={() => setAsked(false)} onLeave={onClose} />}
    </>
  );
}

interface StoredFooterProps {
  stored: boolean;
  onStored: (stored: boolean) => void;
  onDone: () => void;
}

// Done is never disabled: pressed too early it says what is missing.
function StoredFooter({ stored, onStored, onDone }: StoredFooterProps) {
  const { t } = useTranslation();
  const [early, setEarly] = useState(false);
  const hint = early && !stored ? <span className="text-bad">{t('reveal.notYet')}</span> : undefined;
  return (
    <>
      <div className="mr-auto">
        <Checkbox
          label={t('reveal.stored')}
          checked={stored}
          hint={hint}
          onChange={(event) => onStored(event.target.checked)}
        />
      </div>
      <Button variant="primary" size="form" onClick={() => (stored ? onDone() : setEarly(true))}>
        {t('reveal.done')}
      </Button>
    </>
  );
}

function CloseGuard({ onBack, onLeave }: { onBack: () => void; onLeave: () => void }) {
  const { t } = useTranslation();
  const footer = (
    <>
      <Button variant="destructive" onClick={onLeave}>
        {t('reveal.closeAnyway')}
      </Button>
      <Button variant="primary" onClick={onBack}>
        {t('reveal.back')}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onBack} title={t('reveal.guardTitle')} footer={footer}>
      <p className="text-ink-2">{t('reveal.guardSentence')}</p>
    </Dialog>
  );
}

// Reloading or closing the tab would lose the secret as surely as closing the dialog.
function useLeaveGuard(on: boolean): void {
  useEffect(() => {
    if (!on) return;
    const ask = (event: BeforeUnloadEvent) => {
      event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => {
      removeEventListener('beforeunload', ask);
    };
  }, [on]);
}
