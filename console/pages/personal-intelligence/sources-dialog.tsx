/** The messages from which an item was learned, with links to their chats. */
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Dialog } from '../../components/dialog.tsx';
import { SkeletonRows } from '../../components/notice.tsx';
import { Ago } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { ItemQuery } from './documents.ts';

/** The dialog. */
export function SourcesDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [{ data, fetching }] = useQuery({
    query: ItemQuery,
    variables: { id },
    requestPolicy: 'network-only',
  });
  const item = data?.node && 'text' in data.node ? data.node : undefined;
  return (
    <Dialog open wide onClose={onClose} title={t('items.sourcesTitle')} sentence={item?.text}>
      {fetching && <SkeletonRows rows={2} />}
      {!fetching && (item?.sources ?? []).length === 0 && <p>{t('items.noSources')}</p>}
      <ul className="flex flex-col gap-4">
        {item?.sources.map((source) => (
          <li key={source.messageId}>
            <blockquote className="border-l-2 border-line pl-3 [overflow-wrap:anywhere] whitespace-pre-wrap">
              {source.excerpt}
            </blockquote>
            <div className="mt-1 text-table text-ink-3">
              <Link
                to="/playground"
                search={{ chat: source.conversationId }}
                className="font-[550] text-accent"
              >
                {source.conversationTitle || t('items.untitled')}
              </Link>{' '}
              · <Ago at={source.sentAt} />
            </div>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
