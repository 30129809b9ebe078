/** Parts that the list of upstreams and the page of one upstream share. */
import { CircleCheck, CircleMinus } from 'lucide-react';
import type { ReactNode } from 'react';
import { StateWord } from '../../../components/state-word.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
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
  return protocols.map((protocol) => protocolWord(t, protocol)).join(t('state.separator'));
}

/** The name of a chat format. Only upstreams speak Converse, whose name is the same in all languages. */
export function protocolWord(t: TFunction, protocol: Provider['protocols'][number]): string {
  return protocol === 'BEDROCK_CONVERSE' ? 'Converse' : t(`pricing.families.${protocol}`);
}

interface HeadProps {
  title: string;
  note?: string;
  action?: ReactNode;
}

/** The head of a section, with what can be done there. */
export function Head({ title, note, action }: HeadProps) {
  return (
    <div className="mb-2 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
      <div className="flex min-w-0 flex-1 basis-56 flex-wrap items-baseline gap-x-3">
        <h2 className="text-section">{title}</h2>
        {note !== undefined && <span className="text-table text-ink-3">{note}</span>}
      </div>
      {action}
    </div>
  );
}
