/** Privacy: which versions of the policy were accepted, what is stored, and how it goes. */
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Day } from '../../components/time.tsx';
import { Closing } from './closing.tsx';
import { type Acceptance, PrivacyQuery } from './documents.ts';
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
          <Part title={t('profile.chats')}>
            <Chats />
          </Part>
          <Part title={t('profile.close')}>
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

function Chats() {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <p className="text-ink-2">
        {t('profile.chatsSentence')}{' '}
        <Link to="/profile/personal-intelligence" className="text-accent underline">
          {t('profile.toIntelligence')}
        </Link>
      </p>
      <div className="mt-4">
        <Button variant="destructive" onClick={() => setOpen(true)}>
          {t('profile.chatsDelete')}
        </Button>
      </div>
      <Suspense>{open && <DeleteChatsDialog onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
