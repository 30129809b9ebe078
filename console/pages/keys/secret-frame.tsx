/** Shows the secret, with buttons to copy it and to download it as a .env file. */
import { Download } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../../components/button.tsx';
import { CopyLabel, selectInside, useCopy } from '../../components/copy.tsx';
import { download } from '../../components/download.ts';
import { useTranslation } from '../../translation.ts';
import type { Key } from './documents.ts';
import { environmentFile } from './environment-file.ts';

interface SecretFrameProps {
  apiKey: Key;
  secret: string;
}

const PREFIX = 'sk-';

/** The frame. The initial focus is on Copy. */
export function SecretFrame({ apiKey, secret }: SecretFrameProps) {
  const { t } = useTranslation();
  const { outcome, copy } = useCopy(secret);
  const shown = useRef<HTMLElement>(null);
  const copyOrSelect = async () => {
    if (!(await copy())) selectInside(shown.current);
  };
  const middle = PREFIX.length + Math.ceil((secret.length - PREFIX.length) / 2);
  return (
    <div className="rounded-code border border-accent bg-page p-4">
      <div className="flex flex-wrap justify-between gap-x-4 gap-y-1 text-table text-ink-2">
        <span>
          <strong className="font-[550] text-ink">{apiKey.name}</strong> <GroupAndDomain apiKey={apiKey} />
        </span>
        <span>{t('reveal.characters', { count: secret.length })}</span>
      </div>
      <div className="mt-2 flex items-start justify-between gap-4 max-sm:flex-col">
        <code
          ref={shown}
          aria-label={t('reveal.secret')}
          className="min-w-0 text-[20px] leading-[34px] break-all max-sm:text-[17px]"
        >
          <span className="text-ink-3">{PREFIX}</span>
          {secret.slice(PREFIX.length, middle)}
          <wbr />
          <span className="sm:block">{secret.slice(middle)}</span>
        </code>
        <div className="flex w-[118px] flex-none flex-col gap-2 max-sm:w-full">
          <Button
            variant="primary"
            wide
            data-focus-first
            aria-label={t('reveal.copyKey')}
            onClick={() => void copyOrSelect()}
          >
            <CopyLabel outcome={outcome} idleText={t('reveal.copy')} />
          </Button>
          <Button
            wide
            icon={<Download size={16} strokeWidth={1.75} aria-hidden="true" />}
            onClick={() => download('gateway.env', environmentFile(secret, apiKey.baseUrl))}
          >
            {t('reveal.envFile')}
          </Button>
        </div>
      </div>
    </div>
  );
}

/** The group, and the domain where the key works. */
function GroupAndDomain({ apiKey: { group, groupRatio, pool, baseUrl } }: Pick<SecretFrameProps, 'apiKey'>) {
  const { t } = useTranslation();
  const words = `${t(`groups.${group}`)} ×${groupRatio} · `;
  return (
    <>
      {words}
      {pool ? <code>{new URL(baseUrl).host}</code> : t('reveal.mainDomain')}
    </>
  );
}
