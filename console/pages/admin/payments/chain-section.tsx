/** One blockchain: state and reading of its watcher, settings, tokens. */
import {
  CircleCheck,
  CircleDashed,
  CircleMinus,
  CircleX,
  type LucideIcon,
  Pencil,
  Plus,
  Snowflake,
  TriangleAlert,
} from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Banner } from '../../../components/notice.tsx';
import { Rich } from '../../../components/rich.tsx';
import { StateWord, type Tone } from '../../../components/state-word.tsx';
import { Ago } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Chain, ChainTask } from './chain-documents.ts';
import { Section } from './section.tsx';
import { TokenTable } from './token-table.tsx';

interface ChainProps {
  chain: Chain;
  onTask: (task: ChainTask) => void;
}

/** The section of one blockchain. */
export function ChainSection({ chain, onTask }: ChainProps) {
  const { t } = useTranslation();
  const edit = (
    <div className="flex flex-wrap gap-2">
      <Button
        icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => onTask({ kind: 'token', chain })}
        aria-label={t('payments.chains.addTokenTitle', { name: chain.name })}
      >
        {t('payments.chains.addToken')}
      </Button>
      <Button
        icon={<Pencil size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => onTask({ kind: 'chain', chain })}
        aria-label={t('admin.editTitle', { name: chain.name })}
      >
        {t('admin.edit')}
      </Button>
    </div>
  );
  return (
    <Section title={chain.name} mark={<ChainState chain={chain} />} action={edit}>
      <div className="flex flex-col gap-2">
        {chain.frozenAt !== null && <Frozen chain={chain} onTask={onTask} />}
        {chain.trouble !== null && <Trouble chain={chain} trouble={chain.trouble} />}
      </div>
      <div className="mt-2 grid grid-cols-2 gap-x-10 max-lg:grid-cols-1">
        <Reading chain={chain} />
        <Settings chain={chain} />
      </div>
      <div className="mt-4">
        <TokenTable chain={chain} onTask={onTask} />
      </div>
    </Section>
  );
}

const LOOKS = {
  OK: { icon: CircleCheck, tone: 'good' },
  OFF: { icon: CircleMinus, tone: 'quiet' },
  FROZEN: { icon: CircleX, tone: 'bad' },
  TROUBLE: { icon: TriangleAlert, tone: 'warn' },
  WAITING: { icon: CircleDashed, tone: 'quiet' },
} as const satisfies Record<string, { icon: LucideIcon; tone: Tone }>;

function stateOf({ enabled, frozenAt, trouble, readAt }: Chain): keyof typeof LOOKS {
  if (frozenAt !== null) return 'FROZEN';
  if (!enabled) return 'OFF';
  if (trouble !== null) return 'TROUBLE';
  return readAt === null ? 'WAITING' : 'OK';
}

function ChainState({ chain }: Pick<ChainProps, 'chain'>) {
  const { t } = useTranslation();
  const state = stateOf(chain);
  return <StateWord chip {...LOOKS[state]} word={t(`payments.chains.states.${state}`)} />;
}

/** Why credits stopped, in the service's English, and the button that resumes them. */
function Frozen({ chain, onTask }: ChainProps) {
  const { t } = useTranslation();
  return (
    <Banner
      tone="bad"
      icon={<Snowflake size={16} strokeWidth={1.75} aria-hidden="true" />}
      action={
        <div className="max-sm:py-2">
          <Button size="small" onClick={() => onTask({ kind: 'resume', chain })}>
            {t('payments.chains.resume')}
          </Button>
        </div>
      }
    >
      {t('payments.chains.frozen', { name: chain.name })}
      {t('state.gap')}
      {chain.frozenBlock === null ? (
        <span lang="en">{chain.frozenReason}</span>
      ) : (
        t('payments.chains.lost', { number: chain.frozenBlock })
      )}
    </Banner>
  );
}

function Trouble({ chain, trouble }: { chain: Chain; trouble: NonNullable<Chain['trouble']> }) {
  const { t } = useTranslation();
  const { troubleDetail, troubleSince } = chain;
  return (
    <Banner tone="warn" icon={<TriangleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
      {t(`payments.chains.troubles.${trouble}`)}
      <div className="text-table text-ink-2">
        {troubleSince !== null && (
          <>
            <Rich text={t('payments.chains.since')} marks={{ ago: () => <Ago at={troubleSince} /> }} />
            {t('state.gap')}
          </>
        )}
        <span lang="en" className="[overflow-wrap:anywhere]">
          {troubleDetail}
        </span>
      </div>
    </Banner>
  );
}

/** How far the chain is read, and whether both services agree. */
function Reading({ chain }: Pick<ChainProps, 'chain'>) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const { readAt, scannedBlock, newestBlock } = chain;
  const behind = (newestBlock ?? 0) - (scannedBlock ?? 0);
  return (
    <LeaderList>
      <LeaderRow name={t('payments.chains.read')}>
        {readAt === null ? t('state.never') : <Ago at={readAt} />}
      </LeaderRow>
      <LeaderRow name={t('payments.chains.block')}>
        {scannedBlock === null ? t('state.none') : number.format(scannedBlock)}
        {scannedBlock !== null && behind > 0 && (
          <div className="text-hint text-ink-3">{t('payments.chains.behind', { count: behind })}</div>
        )}
      </LeaderRow>
      <LeaderRow name={t('payments.chains.agreement')}>
        <Agreement chain={chain} />
      </LeaderRow>
      <LeaderRow name={t('payments.chains.services')}>
        {chain.rpcHosts.map((host) => (
          <code key={host} className="block [overflow-wrap:anywhere]">
            {host}
          </code>
        ))}
      </LeaderRow>
    </LeaderList>
  );
}

/** Answers are compared only if both services answer. */
function Agreement({ chain: { trouble, readAt } }: Pick<ChainProps, 'chain'>) {
  const { t } = useTranslation();
  if (trouble === 'DISAGREEMENT')
    return <StateWord icon={TriangleAlert} tone="warn" word={t('payments.chains.differ')} />;
  if (trouble !== null || readAt === null)
    return <StateWord icon={CircleDashed} tone="quiet" word={t('payments.chains.unknown')} />;
  return <StateWord icon={CircleCheck} tone="good" word={t('payments.chains.agree')} />;
}

function Settings({ chain }: Pick<ChainProps, 'chain'>) {
  const { t } = useTranslation();
  const { chainId, confirmations, needsFinality, explorerUrl } = chain;
  return (
    <LeaderList>
      <LeaderRow name={t('payments.chains.chainId')}>{chainId}</LeaderRow>
      <LeaderRow name={t('payments.chains.confirmations')}>{confirmations}</LeaderRow>
      <LeaderRow name={t('payments.chains.finality')}>
        {t(needsFinality ? 'payments.yes' : 'payments.no')}
      </LeaderRow>
      <LeaderRow name={t('payments.chains.explorer')}>
        {explorerUrl === null ? (
          t('state.none')
        ) : (
          <code className="[overflow-wrap:anywhere]">{explorerUrl}</code>
        )}
      </LeaderRow>
    </LeaderList>
  );
}
