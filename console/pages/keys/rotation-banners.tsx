/** Which keys have two secrets for a while, and until when the old one works. */
import { RefreshCw } from 'lucide-react';
import { Trans, useTranslation } from 'react-i18next';
import { Banner } from '../../components/notice.tsx';
import { Stamp } from '../../components/time.tsx';
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
              <Trans
                t={t}
                i18nKey={rotation.graceEndsAt === null ? 'keys.toReveal' : 'keys.rotatingBanner'}
                values={{ name, suffix: rotation.previousSuffix }}
                components={{
                  b: <strong className="font-semibold" />,
                  code: <code />,
                  time: rotation.graceEndsAt === null ? <span /> : <Stamp at={rotation.graceEndsAt} />,
                }}
              />
            </Banner>
          ),
      )}
    </div>
  );
}
