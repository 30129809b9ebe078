/** Privacy: accepted policy versions, data export, deleting chats, closing the account. */
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Day } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { Closing } from './closing.tsx';
import { type Acceptance, ExportData, PrivacyQuery } from './documents.ts';
import { Part, ProfileFrame } from './profile-frame.tsx';

const DeleteChatsDialog = lazy(async () => ({
  default: (await import('./delete-chats.tsx')).DeleteChatsDialog,
}));

/** The page. */
export function PrivacyPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: PrivacyQuery });
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={again}>
      {(viewer) => (
        <>
          <Part title={t('profile.policies')}>
            <Acceptances acceptances={viewer.policyAcceptances} />
          </Part>
          <Part title={t('profile.export')} sentence={t('profile.exportSentence')}>
            <Export />
          </Part>
          <Part title={t('profile.chats')} sentence={<ChatsSentence />}>
            <Chats />
          </Part>
          <Part title={t('profile.close')} sentence={t('profile.closeSentence')}>
            <Closing account={viewer} />
          </Part>
        </>
      )}
    </ProfileFrame>
  );
}

function Acceptances({ acceptances }: { acceptances: readonly Acceptance[] }) {
  const { t } = useTranslation();
  return (
    <>
      {acceptances.length === 0 && <p className="text-ink-2">{t('profile.noneAccepted')}</p>}
      <ul className="flex flex-col gap-1">
        {acceptances.map(({ acceptedAt, version: { id, version } }) => (
          <li key={id} className="flex gap-3">
            {t('profile.accepted', { version })}
            <span className="text-ink-3">
              <Day at={acceptedAt} />
            </span>
          </li>
        ))}
      </ul>
      <Link to="/privacy-policy" className="mt-3 inline-block text-accent underline">
        {t('shell.policy')}
      </Link>
    </>
  );
}

function Export() {
  const { t } = useTranslation();
  const [{ fetching }, make] = useMutation(ExportData);
  const failureWords = useFailureWords();
  const toast = useToast();
  const download = async () => {
    const { data, error } = await make({});
    const reason = failureWords(error, data?.personalDataExport.userErrors);
    const url = data?.personalDataExport.export?.downloadUrl;
    if (url) location.assign(url);
    else if (reason !== undefined) toast({ text: reason, failed: true });
  };
  return (
    <Button busy={fetching} onClick={() => void download()}>
      {t('profile.exportButton')}
    </Button>
  );
}

function ChatsSentence() {
  const { t } = useTranslation();
  return (
    <>
      {t('profile.chatsSentence')}
      {t('state.gap')}
      <Link to="/profile/personal-intelligence" className="text-accent underline">
        {t('profile.toIntelligence')}
      </Link>
    </>
  );
}

function Chats() {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="destructive" onClick={() => setOpen(true)}>
        {t('profile.chatsDelete')}
      </Button>
      <Suspense>{open && <DeleteChatsDialog onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
