/** The tokens of one blockchain. */
import { Pencil } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { decimalsOf, Money } from '../../../components/money.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { Enabled } from '../upstreams/upstream-parts.tsx';
import type { Chain, ChainTask, Token } from './chain-documents.ts';

interface TableProps {
  chain: Chain;
  onTask: (task: ChainTask) => void;
}

/** The table, with a button per token that edits it. */
export function TokenTable({ chain, onTask }: TableProps) {
  const { t } = useTranslation();
  const { tokens, name } = chain;
  if (tokens.length === 0) return <p className="text-ink-2">{t('payments.chains.noTokens')}</p>;
  const edit = (token: Token) => (
    <IconButton
      label={t('admin.editTitle', {
        name: t('payments.chains.tokenName', { asset: token.symbol, chain: name }),
      })}
      onClick={() => onTask({ kind: 'token', chain, token })}
    >
      <Pencil size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return (
    <DataTable
      label={t('payments.chains.tokensOf', { name })}
      rows={tokens}
      idOf={({ contract }) => contract}
      columns={columnsOf(t, tokens, edit)}
      card={(token) => <TokenCard token={token}>{edit(token)}</TokenCard>}
    />
  );
}

function columnsOf(
  t: TFunction,
  tokens: readonly Token[],
  edit: (token: Token) => ReactNode,
): Column<Token>[] {
  const align = decimalsOf(tokens.map(({ minimum }) => minimum));
  return [
    {
      id: 'symbol',
      header: t('payments.chains.tokens'),
      cell: ({ row }) => <span className="font-[550]">{row.original.symbol}</span>,
    },
    {
      id: 'contract',
      header: t('payments.chains.contract'),
      cell: ({ row }) => <code className="break-all">{row.original.contract}</code>,
    },
    {
      id: 'decimals',
      header: t('payments.chains.decimals'),
      meta: { right: true },
      cell: ({ row }) => row.original.decimals,
    },
    { id: 'state', header: t('admin.state'), cell: ({ row }) => <Enabled on={row.original.enabled} /> },
    {
      id: 'minimum',
      header: t('payments.chains.minimum'),
      meta: { right: true },
      cell: ({ row }) => <Money amount={row.original.minimum} align={align} />,
    },
    {
      id: 'edit',
      header: t('admin.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => edit(row.original),
    },
  ];
}

function TokenCard({ token, children }: { token: Token; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1 text-table">
      <span className="flex items-center justify-between gap-3">
        <span className="font-[550]">{token.symbol}</span>
        <span className="touch:-my-3 touch:-mr-3.5">{children}</span>
      </span>
      <code className="break-all text-ink-3 touch:pr-8">{token.contract}</code>
      <span className="flex flex-wrap justify-between gap-x-3">
        <Enabled on={token.enabled} />
        <span>
          {t('payments.chains.minimum')}: <Money amount={token.minimum} />
        </span>
      </span>
    </div>
  );
}
