/** Tabs. */
import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

interface TabsProps {
  label: string;
  tabs: readonly { id: string; word: string; content: ReactNode }[];
}

/** Underlined tabs. The first one is open initially. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <Base.Root defaultValue={tabs[0]?.id}>
      <div className="overflow-x-auto border-b border-line">
        <Base.List aria-label={label} className="flex gap-5">
          {tabs.map((tab) => (
            <Base.Tab key={tab.id} value={tab.id} className={TAB}>
              {tab.word}
            </Base.Tab>
          ))}
        </Base.List>
      </div>
      {tabs.map((tab) => (
        <Base.Panel key={tab.id} value={tab.id} className="mt-3 outline-offset-4">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}

const TAB =
  'h-9 flex-none border-b-2 border-transparent text-table whitespace-nowrap text-ink-2 -outline-offset-2 ' +
  'hover:text-ink data-active:border-accent data-active:font-[550] data-active:text-ink touch:h-11';
