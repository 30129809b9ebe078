/** A row of tabs: links to the parts of a page, each of which has its own address. */
import { Link, type LinkProps } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { useCurrentInView } from './use-current-in-view.ts';

/** One tab. */
interface PageTab {
  to: LinkProps['to'];
  title: string;
}

/** The row. On a narrow window it scrolls to the current tab. `className` sets the space below. */
export function PageTabs({
  label,
  tabs,
  className,
}: {
  label: string;
  tabs: readonly PageTab[];
  className: string;
}) {
  const row = useCurrentInView();
  return (
    <nav
      ref={row}
      aria-label={label}
      className={clsx('one-row relative flex gap-5 border-b border-line sm:overflow-x-auto', className)}
    >
      {tabs.map(({ to, title }) => (
        <Link
          key={to}
          to={to}
          className={TAB}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ className: '!border-accent font-[550] !text-ink' }}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}

const TAB =
  'flex h-9 flex-none items-center border-b-2 border-transparent text-table whitespace-nowrap text-ink-2 ' +
  '-outline-offset-2 hover:text-ink touch:h-11';
