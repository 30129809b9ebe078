/** Parts that the list of upstreams and the page of one upstream share. */
import { CircleCheck, CircleMinus } from 'lucide-react';
import { StateWord } from '../../../components/state-word.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Provider } from './documents.ts';

/** Whether an upstream, a route or a credential is enabled. */
export function Enabled({ on }: { on: boolean }) {
  const { t } = useTranslation();
  return on ? (
    <StateWord icon={CircleCheck} tone="good" word={t('admin.enabled')} />
  ) : (
    <StateWord icon={CircleMinus} tone="quiet" word={t('admin.disabled')} />
  );
}

/** The chat formats that an upstream supports. */
export function Protocols({ provider: { protocols } }: { provider: Provider }) {
  const { t } = useTranslation();
  return protocols.map((protocol) => t(`pricing.families.${protocol}`)).join(', ');
}
