/** The frame of sign-in, registration, claim and reset pages: a form 380 px wide. */
import { Link } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useTitle } from '../../components/page-title.ts';
import { Mark } from '../../components/mark.tsx';
import { Banner } from '../../components/notice.tsx';
import { takeEarlyForm } from '../../early.ts';
import { Foot } from '../shell/foot.tsx';
import { SkipLink } from '../shell/skip-link.tsx';

/**
 * Attributes of a form that is shown before its script arrives. The browser sends nothing then: other methods
 * would put the password into the address, or leave the page.
 */
export const STILL = { method: 'dialog' } as const;

interface AccountFrameProps {
  title: string;
  sentence: ReactNode;
  failure?: string | undefined;
  children: ReactNode;
}

/** Title, sentence, error, and the form. */
export function AccountFrame({ title, sentence, failure, children }: AccountFrameProps) {
  useTitle(title);
  useEffect(() => takeEarlyForm()?.requestSubmit(), []);
  return (
    <div className="flex min-h-dvh flex-col">
      <SkipLink />
      <header className="flex items-center gap-4 pt-8 pl-10 max-sm:pt-5 max-sm:pl-4">
        <Link to="/pricing" className="flex items-center gap-3 text-section">
          <Mark />
          Gateway
        </Link>
        <span className="h-px flex-1 bg-line-strong" />
      </header>
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-[412px] flex-1 px-4 pt-[94px] pb-10 outline-none max-sm:pt-10"
      >
        <h1 className="text-title">{title}</h1>
        <p className="mt-1.5 text-body text-ink-2">{sentence}</p>
        {failure !== undefined && (
          <div className="mt-6">
            <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
              {failure}
            </Banner>
          </div>
        )}
        <div className="mt-6">{children}</div>
      </main>
      <Foot />
    </div>
  );
}
