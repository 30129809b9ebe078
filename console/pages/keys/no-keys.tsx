/** The empty key list: three steps to the first request. */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { CopyField } from '../../components/copy.tsx';
import { EmptyFirst } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';

/** The empty list. `action` is the button of step one. */
export function NoKeys({ baseAddress, action }: { baseAddress: string; action: ReactNode }) {
  const { t } = useTranslation();
  return (
    <EmptyFirst title={t('keys.emptyTitle')} sentence={t('keys.emptySentence')}>
      <ol className="border-t border-line">
        <Step number={1} words={<strong className="font-[550]">{t('keys.step1')}</strong>}>
          {action}
        </Step>
        <Step number={2} words={t('keys.step2')}>
          <Address words={t('keys.plainClients')} text={baseAddress} label={t('copy.address')} />
          <Address words={t('keys.chatClients')} text={`${baseAddress}/v1`} label={t('keys.copyChat')} />
        </Step>
        <Step number={3} words={t('keys.step3')}>
          <span className="text-ink-2">{t('keys.step3Note')}</span>
        </Step>
      </ol>
    </EmptyFirst>
  );
}

interface AddressProps {
  /** The clients that use this address. */
  words: string;
  text: string;
  label: string;
}

function Address({ words, text, label }: AddressProps) {
  return (
    <span className="flex w-full flex-wrap items-center justify-between gap-x-4 gap-y-1 pl-7">
      <span className="text-table text-ink-2">{words}</span>
      <CopyField text={text} label={label} />
    </span>
  );
}

function Step({ number, words, children }: { number: number; words: ReactNode; children: ReactNode }) {
  return (
    <li
      className={clsx(
        'flex min-h-11 flex-wrap items-center gap-x-4 gap-y-2 border-b border-line py-2',
        'last:border-0',
      )}
    >
      <span className="w-3 text-ink-3" aria-hidden="true">
        {number}
      </span>
      <span className="flex-1 basis-40">{words}</span>
      {children}
    </li>
  );
}
