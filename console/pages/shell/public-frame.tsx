/** The frame of public pages: header, content, footer. Signed-in users see the console's frame instead. */
import { clsx } from 'clsx';
import { Link } from '@tanstack/react-router';
import { Moon, Sun } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useContext } from 'react';
import { buttonClass, IconButton } from '../../components/button.tsx';
import { Mark } from '../../components/mark.tsx';
import { setTheme } from '../../components/theme.ts';
import { useTimeZone } from '../../components/time.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { VISITOR_TEXT } from './first.ts';
import { Foot } from './foot.tsx';
import { FrameContext } from './frame-context.ts';
import { useFrameQuery } from './frame-query.ts';
import { SkipLink } from './skip-link.tsx';

const VisitorQuery = graphql(VISITOR_TEXT);

// Visitors never need the console's frame.
const ConsoleFrame = lazy(async () => ({ default: (await import('./shell.tsx')).ConsoleFrame }));

interface FrameProps {
  children: ReactNode;
  /** Shows "Create account" at the bottom of the screen on a phone. */
  inviting?: boolean;
}

/** The frame of a public page. */
export function PublicFrame({ children, inviting = false }: FrameProps) {
  const framed = useContext(FrameContext);
  const { data } = useFrameQuery(VisitorQuery);
  useTimeZone(data?.viewer?.timeZone);
  if (framed) return children;
  const visiting = <VisitorFrame inviting={inviting}>{children}</VisitorFrame>;
  if (!data?.viewer) return visiting;
  return (
    <Suspense fallback={visiting}>
      <ConsoleFrame meanwhile={visiting}>{children}</ConsoleFrame>
    </Suspense>
  );
}

function VisitorFrame({ children, inviting }: Required<FrameProps>) {
  const { t } = useTranslation();
  return (
    <div className={clsx('flex min-h-dvh flex-col', inviting && 'max-sm:pb-16')}>
      <SkipLink />
      <header
        className={clsx(
          'flex h-14 flex-none items-center gap-6 border-b border-line px-[max(32px,calc(50%-572px))]',
          'max-sm:px-4 print:hidden',
        )}
      >
        <Link to="/pricing" className="flex items-center gap-3 text-section">
          <Mark />
          Gateway
        </Link>
        <nav aria-label={t('shell.main')} className="flex gap-5 text-body max-sm:hidden">
          <Link to="/pricing" className={PLACE} activeProps={PRESENT}>
            {t('shell.pricing')}
          </Link>
          <Link to="/status" className={PLACE} activeProps={PRESENT}>
            {t('shell.status')}
          </Link>
          <Link to="/help" className={PLACE} activeProps={PRESENT}>
            {t('shell.help')}
          </Link>
        </nav>
        <div className="ml-auto flex items-center gap-4 max-sm:gap-2">
          <ThemeButton />
          <AccountLinks inviting={inviting} />
        </div>
      </header>
      <main
        id="content"
        tabIndex={-1}
        className="mx-auto w-full max-w-[1208px] flex-1 px-8 pt-9 pb-16 outline-none max-sm:px-4 max-sm:pt-6"
      >
        {children}
      </main>
      <div className="mx-auto w-full max-w-[1224px]">
        <Foot />
      </div>
    </div>
  );
}

const PLACE = 'text-ink-2 hover:text-ink';
const PRESENT = { className: 'font-[550] !text-ink' };

/** Links to sign-in and registration. */
function AccountLinks({ inviting }: { inviting: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      <Link to="/sign-in" className={buttonClass({})}>
        {t('shell.signIn')}
      </Link>
      <span className={inviting ? THUMB : 'max-sm:hidden'}>
        <Link to="/register" className={clsx(buttonClass({ variant: 'primary' }), 'max-sm:w-full')}>
          {t('shell.register')}
        </Link>
      </span>
    </>
  );
}

const THUMB =
  'max-sm:fixed max-sm:inset-x-0 max-sm:bottom-0 max-sm:z-20 max-sm:border-t max-sm:border-line ' +
  'max-sm:bg-page max-sm:px-4 max-sm:pt-2 max-sm:pb-[calc(8px+env(safe-area-inset-bottom))]';

/** Switches between light and dark; the footer also offers "system". */
function ThemeButton() {
  const { t } = useTranslation();
  const toggle = () => {
    setTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark');
  };
  return (
    <IconButton label={t('shell.theme')} onClick={toggle}>
      <Sun size={16} strokeWidth={1.75} className="dark:hidden" />
      <Moon size={16} strokeWidth={1.75} className="hidden dark:block" />
    </IconButton>
  );
}
