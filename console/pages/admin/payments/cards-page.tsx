/** Payments by card: health of the processor, its settings, the terms, and the webhook. */
import { Info, Pencil, Plus, Trash2 } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { useQuery } from 'urql';
import { Button, IconButton } from '../../../components/button.tsx';
import { CopyField } from '../../../components/copy.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money, moneyText } from '../../../components/money.tsx';
import { Banner } from '../../../components/notice.tsx';
import { FACT } from '../../../components/table-types.ts';
import { Ago, Day } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { HealthWord } from '../health/health-word.tsx';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';
import {
  type CardHealth,
  type CardSettings,
  CardSettingsQuery,
  type CardTask,
  type WebhookSecret,
} from './card-documents.ts';
import { PaymentsFrame } from './payments-frame.tsx';
import { Section } from './section.tsx';

const CardDialogs = lazy(async () => ({ default: (await import('./card-dialogs.tsx')).CardDialogs }));

/** The page. */
export function CardsPage() {
  const [{ data, error }, again] = useQuery({ query: CardSettingsQuery });
  const { task, setTask, close } = useTask<CardTask>(again);
  const settings = data?.admin?.paymentSettings;
  return (
    <PaymentsFrame>
      <Region data={data?.admin} error={error} onRetry={again}>
        {({ paymentSettings, systemHealth }) => (
          <>
            {paymentSettings.playMoney && <PlayMoney />}
            <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
              <Health settings={paymentSettings} health={systemHealth.paymentProvider} />
              <Terms settings={paymentSettings} onTask={setTask} />
              <Processor settings={paymentSettings} onTask={setTask} />
              <Webhook settings={paymentSettings} onTask={setTask} />
            </div>
          </>
        )}
      </Region>
      <Suspense>
        {task && settings && <CardDialogs task={task} settings={settings} onClose={close} />}
      </Suspense>
    </PaymentsFrame>
  );
}

interface PartProps {
  settings: CardSettings;
  onTask: (task: CardTask) => void;
}

function PlayMoney() {
  const { t } = useTranslation();
  return (
    <div className="mb-6">
      <Banner tone="accent" icon={<Info size={16} strokeWidth={1.75} aria-hidden="true" />}>
        {t('payments.cards.playMoney')}
      </Banner>
    </div>
  );
}

function Health({ settings, health }: { settings: CardSettings; health: CardHealth }) {
  const { t } = useTranslation();
  const { lastSuccessAt, lastError, lastErrorAt, reconciledAt } = settings;
  const when = (at: string | null) => (at === null ? t('state.never') : <Ago at={at} />);
  return (
    <Section title={t('payments.cards.health')}>
      <LeaderList>
        <LeaderRow name={t('payments.cards.state')}>
          <HealthWord status={health} word={t(`payments.cards.statuses.${health}`)} />
        </LeaderRow>
        <LeaderRow name={t('payments.cards.answered')}>{when(lastSuccessAt)}</LeaderRow>
        <LeaderRow name={t('payments.cards.compared')}>{when(reconciledAt)}</LeaderRow>
        <LeaderRow name={t('payments.cards.lastError')}>
          {lastError === null || lastErrorAt === null ? (
            t('state.none')
          ) : (
            <>
              <Ago at={lastErrorAt} />
              <div lang="en" className="text-hint text-ink-2">
                {lastError}
              </div>
            </>
          )}
        </LeaderRow>
      </LeaderList>
    </Section>
  );
}

function Edit({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button icon={<Pencil size={16} strokeWidth={1.75} aria-hidden="true" />} onClick={onClick}>
      {label}
    </Button>
  );
}

function Terms({ settings, onTask }: PartProps) {
  const { t } = useTranslation();
  const edit = <Edit label={t('payments.cards.editTerms')} onClick={() => onTask({ kind: 'terms' })} />;
  return (
    <Section title={t('payments.cards.terms')} action={edit}>
      <LeaderList>
        <LeaderRow name={t('payments.cards.offer')}>
          {t(settings.cardEnabled ? 'payments.yes' : 'payments.no')}
        </LeaderRow>
        <LeaderRow name={t('payments.cards.min')}>
          <Money amount={settings.amountMin} />
        </LeaderRow>
        <LeaderRow name={t('payments.cards.max')}>
          <Money amount={settings.amountMax} />
        </LeaderRow>
        <LeaderRow name={t('payments.cards.daily')}>
          <Money amount={settings.dailyMax} />
        </LeaderRow>
        <LeaderRow name={t('payments.cards.presets')}>
          {settings.presets.length > 0 ? settings.presets.map(moneyText).join(', ') : t('state.none')}
        </LeaderRow>
      </LeaderList>
    </Section>
  );
}

function Processor({ settings, onTask }: PartProps) {
  const { t } = useTranslation();
  const { apiAddress, apiKeySuffix, taxCode } = settings;
  const edit = (
    <Edit label={t('payments.cards.editProcessor')} onClick={() => onTask({ kind: 'processor' })} />
  );
  const onOff = (name: string, on: boolean): ReactNode => (
    <LeaderRow name={name}>{t(on ? 'payments.on' : 'payments.off')}</LeaderRow>
  );
  return (
    <Section title={t('payments.cards.processor')} action={edit}>
      <LeaderList>
        <LeaderRow name={t('payments.cards.address')}>
          <code className="[overflow-wrap:anywhere]">{apiAddress}</code>
        </LeaderRow>
        <LeaderRow name={t('payments.cards.key')}>
          {apiKeySuffix === null ? t('state.none') : <code>…{apiKeySuffix}</code>}
        </LeaderRow>
        {onOff(t('payments.cards.short.managed'), settings.managedPayments)}
        {onOff(t('payments.cards.short.tax'), settings.automaticTax)}
        {onOff(t('payments.cards.short.stablecoins'), settings.stablecoins)}
        <LeaderRow name={t('payments.cards.taxCode')}>
          {taxCode === null ? t('state.none') : <code>{taxCode}</code>}
        </LeaderRow>
      </LeaderList>
    </Section>
  );
}

function Webhook({ settings: { webhookAddress, webhookSecrets }, onTask }: PartProps) {
  const { t } = useTranslation();
  const add = (
    <Button
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => onTask({ kind: 'addSecret' })}
    >
      {t('payments.cards.addSecret')}
    </Button>
  );
  return (
    <Section title={t('payments.cards.webhook')} action={add}>
      <p className="mb-3 text-ink-2">{t('payments.cards.webhookSentence')}</p>
      <CopyField text={webhookAddress} label={t('payments.cards.copyWebhook')} />
      <div className="mt-4">
        {webhookSecrets.length === 0 ? (
          <p className="text-warn">{t('payments.cards.noSecrets')}</p>
        ) : (
          <Secrets secrets={webhookSecrets} onTask={onTask} />
        )}
      </div>
    </Section>
  );
}

function Secrets({ secrets, onTask }: { secrets: readonly WebhookSecret[] } & Pick<PartProps, 'onTask'>) {
  const { t } = useTranslation();
  const remove = (secret: WebhookSecret) => (
    <IconButton
      label={t('admin.removeTitle', { name: secret.label })}
      onClick={() => onTask({ kind: 'removeSecret', secret })}
    >
      <Trash2 size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return (
    <DataTable
      label={t('payments.cards.secrets')}
      rows={secrets}
      idOf={({ id }) => id}
      columns={[
        {
          id: 'label',
          header: t('payments.cards.secrets'),
          cell: ({ row }) => <span className="font-[550] break-words">{row.original.label}</span>,
        },
        {
          id: 'suffix',
          header: t('payments.cards.endsIn'),
          cell: ({ row }) => <code>…{row.original.suffix}</code>,
        },
        {
          id: 'added',
          header: t('payments.cards.added'),
          meta: FACT,
          cell: ({ row }) => <Day at={row.original.createdAt} />,
        },
        {
          id: 'remove',
          header: t('admin.actions'),
          meta: { silent: true, right: true },
          cell: ({ row }) => remove(row.original),
        },
      ]}
      card={(secret) => (
        <div className="flex items-center justify-between gap-3 text-table">
          <span className="min-w-0 break-words">
            <span className="font-[550]">{secret.label}</span> <code>…{secret.suffix}</code>
          </span>
          <span className="touch:-my-3 touch:-mr-3.5">{remove(secret)}</span>
        </div>
      )}
    />
  );
}
