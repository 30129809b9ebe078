/** Banners of rotating keys: until when the old secret works, and whether it is still used. */
import { RefreshCw } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { Banner } from '../../components/notice.tsx';
import { Rich } from '../../components/rich.tsx';
import { Stamp } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Key, KeyDialog } from './documents.ts';
import { LastUseOfOld } from './last-use-of-old.tsx';

interface RotationBannersProps {
  keys: readonly Key[];
  open: (dialog: KeyDialog) => void;
}

/** One banner for each rotating key. */
export function RotationBanners({ keys, open }: RotationBannersProps) {
  return (
    <div className="flex flex-col gap-2">
      {keys
        .filter(({ rotation }) => rotation !== null)
        .map((key) => (
          <RotationBanner key={key.id} apiKey={key} open={open} />
        ))}
    </div>
  );
}

interface RotationBannerProps {
  apiKey: Key;
  open: (dialog: KeyDialog) => void;
}

function RotationBanner({ apiKey, open }: RotationBannerProps) {
  const { t } = useTranslation();
  const { name, rotation } = apiKey;
  if (rotation === null) return null;
  const { graceEndsAt, previousSuffix: suffix, previousLastUsedAt } = rotation;
  const end = (
    <Button size="small" onClick={() => open({ kind: 'grace', key: apiKey })}>
      {t('keys.graceEnd')}
    </Button>
  );
  const icon = <RefreshCw size={16} strokeWidth={1.75} aria-hidden="true" />;
  return (
    <Banner tone="warn" icon={icon} {...(graceEndsAt !== null && { action: end })}>
      <Rich
        text={t(graceEndsAt === null ? 'keys.toReveal' : 'keys.rotatingBanner', { name, suffix })}
        marks={{
          b: (inside) => <strong className="font-semibold">{inside}</strong>,
          code: (inside) => <code>{inside}</code>,
          time: () => graceEndsAt !== null && <Stamp at={graceEndsAt} />,
        }}
      />
      {t('state.gap')}
      {graceEndsAt !== null && <LastUseOfOld at={previousLastUsedAt} />}
    </Banner>
  );
}
