/** What the list of upstreams and the page of one show alike. */
import { CircleCheck, CircleMinus } from 'lucide-react';
import { StateWord } from '../../components/state-word.tsx';
import { useTranslation } from '../../translation.ts';
import type { Provider } from './upstream-documents.ts';

/** Whether an upstream or a route is asked at all. */
export function Enabled({ on }: { on: boolean }) {
  const { t } = useTranslation();
  return on ? (
    <StateWord icon={CircleCheck} tone="good" word={t('admin.enabled')} />
  ) : (
    <StateWord icon={CircleMinus} tone="quiet" word={t('admin.disabled')} />
  );
}

/** The chat formats that an upstream speaks. */
export function Protocols({ provider: { protocols } }: { provider: Provider }) {
  const { t } = useTranslation();
  return protocols.map((protocol) => t(`pricing.families.${protocol}`)).join(', ');
}
