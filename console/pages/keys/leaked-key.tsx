/** Marks a key as leaked: says who used it lately, then disables it for good. */
import { useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SkeletonRows } from '../../components/notice.tsx';
import { Ago } from '../../components/time.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import type { Key } from './documents.ts';
import { useKeySwitch } from './use-key-switch.ts';

const RecentUse = graphql(`
  query RecentUse($id: ID!) {
    viewer {
      id
      usage(first: 100, filter: { keyIds: [$id] }) {
        nodes {
          id
          ip
          createdAt
        }
      }
    }
  }
`);

/** The dialog. */
export function LeakedDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const { disable } = useKeySwitch();
  const confirm = async () => {
    setBusy(true);
    const done = await disable(apiKey, true);
    setBusy(false);
    if (done) onClose();
  };
  const footer = (
    <>
      <Button variant="ghost" data-focus-first onClick={onClose}>
        {t('dialog.cancel')}
      </Button>
      <Button variant="destructive" busy={busy} onClick={() => void confirm()}>
        {t('keys.leakedButton')}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t('keys.leakedTitle', { name: apiKey.name })} footer={footer}>
      <p>{t('keys.leakedSentence')}</p>
      <Addresses id={apiKey.id} />
    </Dialog>
  );
}

function Addresses({ id }: { id: string }) {
  const { t } = useTranslation();
  const [{ data, fetching }] = useQuery({
    query: RecentUse,
    variables: { id },
    requestPolicy: 'network-only',
  });
  const latest = new Map<string, string>();
  // Newest first: the first line of an address is its last use.
  for (const { ip, createdAt } of data?.viewer?.usage.nodes ?? [])
    if (ip !== null && !latest.has(ip)) latest.set(ip, createdAt);
  if (!data && fetching) return <SkeletonRows rows={2} />;
  return (
    <section className="mt-4">
      <h3 className="font-semibold">{t('keys.recentAddresses')}</h3>
      {latest.size === 0 && <p className="text-ink-2">{t('keys.neverUsed')}</p>}
      <ul>
        {[...latest].map(([ip, at]) => (
          <li key={ip} className="flex justify-between gap-4 border-b border-line py-1.5">
            <code>{ip}</code>
            <span className="text-ink-2">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
