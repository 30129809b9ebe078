/** Which keys have two secrets for a while, and until when the old one works. */
import { RefreshCw } from 'lucide-react';
import { Banner } from '../../components/notice.tsx';
import { Rich } from '../../components/rich.tsx';
import { Stamp } from '../../components/time.tsx';
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
              />
            </Banner>
          ),
      )}
    </div>
  );
}
