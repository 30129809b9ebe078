/** The result of linking an identity, shown once after the return from the provider. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleCheck, CircleX } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Banner } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';

/** The message. Removes its parameter from the address, so that a reload does not show it again. */
export function LinkOutcome() {
  const { t } = useTranslation();
  const { oidc } = useSearch({ from: '/signed-in/profile/security' });
  const navigate = useNavigate();
  const [outcome] = useState(oidc);
  useEffect(() => {
    if (oidc !== undefined) void navigate({ to: '/profile/security', search: {}, replace: true });
  }, [navigate, oidc]);
  if (outcome === undefined) return null;
  const done = outcome === 'linked';
  const Icon = done ? CircleCheck : CircleX;
  return (
    <Banner
      alert
      tone={done ? 'good' : 'bad'}
      icon={<Icon size={16} strokeWidth={1.75} aria-hidden="true" />}
    >
      {t(`identities.outcomes.${outcome}`)}
    </Banner>
  );
}
