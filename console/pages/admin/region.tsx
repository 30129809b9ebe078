/** A part of an administrators' page that shows the data of one query: loading, failed, or loaded. */
import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';

interface RegionProps<Data> {
  data: Data | null | undefined;
  error: CombinedError | undefined;
  onRetry: () => void;
  children: (data: Data) => ReactNode;
}

/** Renders its children with the data. Old data stays visible while new data loads. */
export function Region<Data>({ data, error, onRetry, children }: RegionProps<Data>) {
  const { t } = useTranslation();
  if (data !== null && data !== undefined) return children(data);
  if (!error) return <SkeletonRows rows={8} />;
  return (
    <Failure
      title={t('admin.failed')}
      safe={t('admin.failedSafe')}
      requestId={requestIdOf(error)}
      onRetry={onRetry}
    />
  );
}
