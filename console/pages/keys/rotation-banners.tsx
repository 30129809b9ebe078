/** Which keys have two secrets for a while, until when the old one works, and whether it is still used. */
import { RefreshCw } from 'lucide-react';
import { Banner } from '../../components/notice.tsx';
import { Rich } from '../../components/rich.tsx';
import { Ago, Stamp } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Key } from './documents.ts';

/** One banner for each key that is rotating. */
export function RotationBanners({ keys }: { keys: readonly Key[] }) {
  const { t } = useTranslation();
  const icon = <RefreshCw size={16} strokeWidth={1.75} aria-hidden="true" />;
  return (
    <div className="flex flex-col gap-2">
      {keys.map(
        ({ id, name, rotation }) =>
          rotation && (
            <Banner key={id} tone="warn" icon={icon}>
              <Rich
                text={t(rotation.graceEndsAt === null ? 'keys.toReveal' : 'keys.rotatingBanner', {
                  name,
                  suffix: rotation.previousSuffix,
                })}
                marks={{
                  b: (inside) => <strong className="font-semibold">{inside}</strong>,
                  code: (inside) => <code>{inside}</code>,
                  time: () => rotation.graceEndsAt !== null && <Stamp at={rotation.graceEndsAt} />,
                }}
              />{' '}
              {rotation.graceEndsAt !== null && <LastUse at={rotation.previousLastUsedAt} />}
            </Banner>
          ),
      )}
    </div>
  );
}

/** Whether the old secret is still in use: who reads that nobody uses it need not wait for its end. */
function LastUse({ at }: { at: string | null }) {
  const { t } = useTranslation();
  if (at === null) return t('keys.oldUnused');
  return <Rich text={t('keys.oldUsed')} marks={{ ago: () => <Ago at={at} /> }} />;
}
