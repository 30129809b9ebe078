/** Placeholders for a region without rows (empty, filtered out, failed, loading), and banners. */
import { clsx } from 'clsx';
import { RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '../translation.ts';
import { Button } from './button.tsx';
import { CopyField } from './copy.tsx';
import { WireBroken, WireEmpty } from './mark.tsx';
import type { Tone } from './state-word.tsx';

const GROUND: Record<Tone, string> = {
  good: 'bg-good-soft [&_svg]:text-good',
  warn: 'bg-warn-soft [&_svg]:text-warn',
  bad: 'bg-bad-soft [&_svg]:text-bad',
  accent: 'bg-accent-soft [&_svg]:text-accent',
  quiet: 'bg-sunk border border-line [&_svg]:text-ink-2',
};

interface BannerProps {
  tone: Tone;
  icon: ReactNode;
  action?: ReactNode;
  children: ReactNode;
  alert?: boolean;
}

/** One sentence with an icon and at most one action. With `alert`, screen readers read it at once. */
export function Banner({ tone, icon, action, children, alert = false }: BannerProps) {
  return (
    <div
      role={alert ? 'alert' : undefined}
      className={clsx(
        'flex min-h-10 flex-wrap items-start gap-x-3 gap-y-3 rounded-code px-4 py-2.5 text-body',
        GROUND[tone],
      )}
    >
      <div className="flex min-w-0 flex-1 basis-48 items-start gap-3 self-center">
        <span className="flex h-5 flex-none items-center">{icon}</span>
        <div className="min-w-0 flex-1">{children}</div>
      </div>
      {action !== undefined && (
        <div className="-my-1.5 flex max-w-full flex-none self-center banner-action">{action}</div>
      )}
    </div>
  );
}

/** Placeholder for a list that never had rows: says what belongs here and what to do. */
export function EmptyFirst({
  title,
  sentence,
  children,
}: {
  title: string;
  sentence: string;
  children?: ReactNode;
}) {
  return (
    <section className="rounded-card border border-line bg-raise p-6 max-sm:p-5">
      <WireEmpty />
      <h2 className="mt-6 text-section">{title}</h2>
      <p className="mt-1 text-ink-2">{sentence}</p>
      {children !== undefined && <div className="mt-4">{children}</div>}
    </section>
  );
}

/** Placeholder for a list whose filters match nothing, with a button that clears the filters. */
export function EmptyFiltered({ sentence, onClear }: { sentence: string; onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <section
      className={clsx(
        'flex flex-wrap items-center justify-between gap-4 rounded-card border',
        'border-line bg-raise p-5',
      )}
    >
      <div>
        <h2 className="font-semibold">{t('state.nothingMatches')}</h2>
        <p className="text-ink-2">{sentence}</p>
      </div>
      <Button onClick={onClear}>{t('state.clearFilters')}</Button>
    </section>
  );
}

interface FailureProps {
  title: string;
  safe: string;
  requestId?: string | undefined;
  onRetry: () => void;
}

/** Placeholder for a region that could not be loaded: what failed, what still works, request id, Retry. */
export function Failure({ title, safe, requestId, onRetry }: FailureProps) {
  const { t } = useTranslation();
  return (
    <section role="alert" className="rounded-card border border-line bg-raise p-5">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
        <WireBroken />
        <div>
          <h2 className="font-semibold">{title}</h2>
          <p className="text-ink-2">{safe}</p>
        </div>
      </div>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button icon={<RotateCw size={16} strokeWidth={1.75} />} onClick={onRetry}>
          {t('state.retry')}
        </Button>
        {requestId !== undefined && <CopyField text={requestId} label={t('copy.requestId')} />}
      </div>
    </section>
  );
}

const WIDTHS = ['w-24', 'w-32', 'w-20', 'w-28'];

/** Placeholder rows while a list loads; they appear after 300 ms. */
export function SkeletonRows({ rows = 5, height = 'h-11' }: { rows?: number; height?: string }) {
  const { t } = useTranslation();
  return (
    <div className="late border-t border-line-strong" role="status">
      <span className="sr-only">{t('state.loading')}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={clsx('flex items-center gap-6 border-b border-line px-3', height)}>
          <div className={clsx('drawn h-3 rounded-tag bg-line', WIDTHS[index % WIDTHS.length])} />
          <div className="drawn h-3 w-16 rounded-tag bg-line" />
          <div className="drawn ml-auto h-3 w-16 rounded-tag bg-line" />
        </div>
      ))}
    </div>
  );
}
