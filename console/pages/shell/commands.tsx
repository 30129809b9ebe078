/** Opens the command palette with Ctrl K, and the list of shortcuts with ?. */
import { Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { IconButton } from '../../components/button.tsx';
import { isTyping, singleKeys } from '../../components/shortcuts.ts';
import { useStore } from '../../components/store.ts';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import type { Viewer } from './viewer.ts';

const load = () => Promise.all([import('./palette.tsx'), loadWords(['personal', 'help'])]);
const Palette = lazy(async () => ({ default: (await load())[0].Palette }));

interface CommandsProps {
  role: Viewer['role'];
  baseAddress: string;
  /** Whether this is an administrators' page; the palette then includes these pages. */
  admin?: boolean;
  /** Shows only an icon, for phones. */
  small?: boolean;
}

/** The button that opens the palette, and the keyboard shortcuts. */
export function Commands({ role, baseAddress, admin = false, small = false }: CommandsProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  const single = useStore(singleKeys);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const command = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      const help = single && event.key === '?' && !isTyping(event);
      if (!command && !help) return;
      event.preventDefault();
      setOpen(command ? 'palette' : 'shortcuts');
    };
    addEventListener('keydown', listen);
    return () => {
      removeEventListener('keydown', listen);
    };
  }, [single]);
  return (
    <>
      <Opener
        small={small}
        words={t(admin ? 'admin.jump' : 'shell.jump')}
        onOpen={() => setOpen('palette')}
      />
      <Suspense>
        {open && (
          <Palette
            sheet={open === 'shortcuts'}
            role={role}
            baseAddress={baseAddress}
            admin={admin}
            onClose={() => {
              setOpen(undefined);
            }}
          />
        )}
      </Suspense>
    </>
  );
}

interface OpenerProps {
  small: boolean;
  words: string;
  onOpen: () => void;
}

function Opener({ small, words, onOpen }: OpenerProps) {
  if (small)
    return (
      <IconButton label={words} onClick={onOpen}>
        <Search size={20} strokeWidth={1.75} />
      </IconButton>
    );
  return (
    <button type="button" className={BUTTON} onPointerEnter={() => void load()} onClick={onOpen}>
      <Search size={16} strokeWidth={1.75} className="flex-none text-ink-3" aria-hidden="true" />
      <span className="truncate text-ink-2">{words}</span>
      <kbd className="ml-auto rounded-tag border border-line px-1.5 text-tiny text-ink-3 max-lg:hidden">
        Ctrl K
      </kbd>
    </button>
  );
}

const BUTTON =
  'mr-auto flex h-8 w-[264px] min-w-0 items-center gap-2 rounded-control border border-line-strong ' +
  'bg-canvas px-2.5 text-left hover:bg-hover touch:h-11';
