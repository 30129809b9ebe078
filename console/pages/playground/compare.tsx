/** Two to four models side by side: each message goes to all of them. */
import { Plus, SlidersHorizontal, X } from 'lucide-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { moneyText } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { type ColumnActions, type ColumnState, CompareColumn } from './compare-column.tsx';
import { COMPARED_MAX, COMPARED_MIN, comparedOf, firstCompared, sumOf } from './compared.ts';
import { Composer, NO_DRAFT } from './composer.tsx';
import { type ChatTool, ChatTools } from './chat-tools.tsx';
import type { PickedModel } from './models.ts';
import { countOf, NO_SETTINGS, type Settings } from './settings.ts';
import { useEscape } from './use-escape.ts';

/** The comparison that the address names. Its chats live as long as the page. */
export function Compare({ models, first }: { models: readonly PickedModel[]; first: string | undefined }) {
  const { t } = useTranslation();
  const compared = useCompared(models, first);
  const [draft, setDraft] = useState(NO_DRAFT);
  const [settings, setSettings] = useState<Settings>(NO_SETTINGS);
  const [tool, setTool] = useState<ChatTool>();
  const columns = useColumns(compared.shown);
  const isRunning = columns.runningSince !== undefined;
  useEscape(isRunning ? columns.stop : undefined);
  const send = async () => {
    setDraft(NO_DRAFT);
    if (!(await columns.send(draft.text, draft.pictures))) setDraft(draft);
  };
  return (
    <section className="flex min-h-0 min-w-0 flex-1 flex-col">
      <CompareHead
        {...{ compared, isRunning }}
        settingCount={countOf(settings)}
        onSettings={() => setTool('settings')}
      />
      <Columns {...{ compared, columns, settings }} />
      <div className="mx-auto w-full max-w-[720px] flex-none px-6 py-3 max-sm:px-3">
        <Composer
          sees={compared.shown.every(({ sees }) => sees)}
          draft={draft}
          onDraft={setDraft}
          focusTurn={0}
          begun={columns.isBegun}
          runningSince={columns.runningSince}
          busy={columns.isBusy}
          onSend={() => void send()}
          onStop={columns.stop}
        >
          <span className="min-w-0 text-table text-ink-3">
            {t('prompts.compare.price', {
              count: compared.shown.length,
              amount: moneyText(sumOf(compared.shown.map(({ price }) => price))),
            })}
          </span>
        </Composer>
      </div>
      <ChatTools
        {...{ tool, settings, draft, models: compared.shown, messages: [] }}
        onSettings={setSettings}
        onDraft={setDraft}
        onClose={() => setTool(undefined)}
      />
    </section>
  );
}

interface HeadProps {
  compared: ReturnType<typeof useCompared>;
  /** How many settings are set. */
  settingCount: number;
  /** Whether a reply is running, which leaving would lose. */
  isRunning: boolean;
  onSettings: () => void;
}

function CompareHead({ compared, settingCount, isRunning, onSettings }: HeadProps) {
  const { t } = useTranslation();
  return (
    <header className={HEAD}>
      <h1 className="min-w-0 flex-1 truncate font-semibold">{t('playground.compare')}</h1>
      <Button
        size="small"
        icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
        disabled={compared.others.length === 0 || compared.shown.length >= COMPARED_MAX}
        onClick={compared.add}
      >
        {t('prompts.compare.add')}
      </Button>
      <IconButton label={t('playground.settingsOpen', { count: settingCount })} onClick={onSettings}>
        <SlidersHorizontal size={16} strokeWidth={1.75} />
      </IconButton>
      <IconButton label={t('prompts.compare.leave')} disabled={isRunning} onClick={compared.leave}>
        <X size={16} strokeWidth={1.75} />
      </IconButton>
    </header>
  );
}

interface ColumnsProps {
  compared: ReturnType<typeof useCompared>;
  columns: ReturnType<typeof useColumns>;
  settings: Settings;
}

function Columns({ compared, columns, settings }: ColumnsProps) {
  return (
    <div className={GRID} tabIndex={-1}>
      {compared.shown.map((model) => (
        <CompareColumn
          key={model.name}
          ref={columns.refOf(model.name)}
          model={model}
          models={[model, ...compared.others]}
          settings={settings}
          onModel={(name) => compared.change(model.name, name)}
          onRemove={
            compared.shown.length > COMPARED_MIN ? () => compared.change(model.name, undefined) : undefined
          }
          onState={(state) => columns.setState(model.name, state)}
        />
      ))}
    </div>
  );
}

/** The compared models, and changes of them, which the address keeps. */
function useCompared(models: readonly PickedModel[], first: string | undefined) {
  const { compare } = useSearch({ from: '/signed-in/playground' });
  const navigate = useNavigate();
  const known = models.map(({ name }) => name);
  const named = comparedOf(compare, known);
  const names = named.length >= COMPARED_MIN ? named : firstCompared(named[0] ?? first, known);
  const go = (next: readonly string[]) =>
    void navigate({ to: '/playground', search: { compare: next.join(',') }, replace: true });
  const others = models.filter(({ name }) => !names.includes(name));
  return {
    shown: names.flatMap((name) => models.filter((model) => model.name === name)),
    others,
    add: () => go([...names, ...others.slice(0, 1).map(({ name }) => name)]),
    /** Replaces a model by another one; undefined removes it. */
    change: (name: string, next: string | undefined) =>
      go(names.flatMap((own) => (own === name ? (next ?? []) : own))),
    leave: () => void navigate({ to: '/playground', search: { model: names[0] } }),
  };
}

/** The actions and states of the shown columns. */
function useColumns(shown: readonly PickedModel[]) {
  const actions = useRef(new Map<string, ColumnActions>());
  const [states, setStates] = useState<Readonly<Record<string, ColumnState>>>({});
  const own = shown.flatMap(({ name }) => states[name] ?? []);
  const each = () => shown.flatMap(({ name }) => actions.current.get(name) ?? []);
  const starts = own.flatMap(({ runningSince }) => (runningSince ? [Date.parse(runningSince)] : []));
  return {
    refOf: (name: string) => (column: ColumnActions | null) => {
      if (column) actions.current.set(name, column);
      else actions.current.delete(name);
    },
    setState: (name: string, state: ColumnState) => setStates((now) => ({ ...now, [name]: state })),
    isBusy: own.some(({ isBusy }) => isBusy),
    isBegun: own.some(({ messages }) => messages.length > 0),
    runningSince: starts.length > 0 ? Math.min(...starts) : undefined,
    /** Whether any column sent the message; the others show why they did not. */
    send: async (text: string, pictures: Parameters<ColumnActions['send']>[1]) =>
      (await Promise.all(each().map((column) => column.send(text, pictures)))).includes(true),
    stop: () => each().forEach((column) => column.stop()),
  };
}

const HEAD =
  'flex min-h-12 flex-none items-center gap-x-3 border-b border-line px-6 py-2 max-sm:gap-x-2 max-sm:px-3';
const GRID =
  'grid min-h-0 flex-1 max-lg:auto-rows-min max-lg:overflow-y-auto lg:auto-cols-fr lg:grid-flow-col ' +
  'lg:grid-rows-[minmax(0,1fr)]';
