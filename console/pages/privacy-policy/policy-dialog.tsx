/** The current privacy policy in a dialog. */
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { Prose } from '../../components/prose.tsx';
import { useTranslation } from '../../translation.ts';
import { PolicyQuery, withoutTitle } from './documents.ts';

/** The dialog, with a link to the policy's page. */
export function PolicyDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: PolicyQuery, variables: { version: null } });
  const policy = data?.privacyPolicy;
  const footer = (
    <>
      <Link to="/privacy-policy" target="_blank" className="mr-auto text-accent underline">
        {t('policy.asPage')}
      </Link>
      <Button variant="primary" onClick={onClose}>
        {t('dialog.close')}
      </Button>
    </>
  );
  return (
    <Dialog open wide onClose={onClose} title={t('policy.title')} footer={footer}>
      {policy && <Prose markdown={withoutTitle(policy.markdown)} />}
      {!policy && !error && <SkeletonRows rows={8} />}
      {!policy && error && (
        <Failure
          title={t('policy.failed')}
          safe={t('policy.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
    </Dialog>
  );
}
