/** Access tokens, with which scripts use the GraphQL API as this user. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CircleCheck, CircleMinus, CircleX, type LucideIcon, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { FACT } from '../../components/table-types.ts';
import { EmptyFirst } from '../../components/notice.tsx';
import { Pager } from '../../components/pager.tsx';
import { pageVariables } from '../../components/search-parameters.ts';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { Ago, Day } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { Part, ProfileFrame } from './profile-frame.tsx';
import { type Token, TokensQuery } from './token-documents.ts';

const TOKENS_PER_PAGE = 50;
const loadDialogs = () => import('./token-dialogs.tsx');
const TokenDialog = lazy(async () => ({ default: (await loadDialogs()).TokenDialog }));

type Open = 'create' | Token;

/** The page. */
export function TokensPage() {
  const { t } = useTranslation();
  const page = useSearch({ from: '/signed-in/profile/tokens' });
  const navigate = useNavigate({ from: '/profile/tokens' });
  const variables = { first: TOKENS_PER_PAGE, ...pageVariables(page) };
  const [{ data, error }, again] = useQuery({ query: TokensQuery, variables });
  const [open, setOpen] = useState<Open>();
  const create = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onPointerEnter={() => void loadDialogs()}
      onClick={() => setOpen('create')}
    >
      {t('tokens.create')}
    </Button>
  );
  const close = () => {
    setOpen(undefined);
    again({ requestPolicy: 'network-only' });
  };
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={again}>
      {({ role, accessTokens: { nodes, pageInfo } }) => (
        <Part title={t('profile.tabs.tokens')} sentence={<Sentence />} action={create}>
          {nodes.length === 0 ? (
            <EmptyFirst title={t('tokens.none')} sentence={t('tokens.noneSentence')} />
          ) : (
            <TokenTable tokens={nodes} onRevoke={setOpen} />
          )}
          {nodes.some((token) => stateOf(token) !== 'ACTIVE') && (
            <p className="mt-3 text-hint text-ink-3">{t('tokens.endedKept')}</p>
          )}
          <Pager page={page} pageInfo={pageInfo} onGo={(next) => void navigate({ search: next })} />
          <Suspense>
            {open !== undefined && <TokenDialog admin={role === 'ADMIN'} open={open} onClose={close} />}
          </Suspense>
        </Part>
      )}
    </ProfileFrame>
  );
}

/** The purpose of tokens, and the page on which the API can be tried. */
function Sentence() {
  const { t } = useTranslation();
  return (
    <>
      {t('tokens.sentence')}
      {t('state.gap')}
      <a href="/graphql" className="text-accent underline touch:py-3">
        {t('tokens.explorer')}
      </a>
    </>
  );
}

function stateOf({ revokedAt, expiresAt }: Token): 'ACTIVE' | 'EXPIRED' | 'REVOKED' {
  if (revokedAt !== null) return 'REVOKED';
  return Date.parse(expiresAt) <= Date.now() ? 'EXPIRED' : 'ACTIVE';
}

const LOOKS: Record<ReturnType<typeof stateOf>, { icon: LucideIcon; tone: Tone }> = {
  ACTIVE: { icon: CircleCheck, tone: 'good' },
  EXPIRED: { icon: CircleMinus, tone: 'quiet' },
  REVOKED: { icon: CircleX, tone: 'quiet' },
};

const expires = ({ expiresAt }: Token) => <Day at={expiresAt} />;

function TokenTable({ tokens, onRevoke }: { tokens: readonly Token[]; onRevoke: (token: Token) => void }) {
  const { t } = useTranslation();
  const state = (token: Token) => (
    <StateWord {...LOOKS[stateOf(token)]} word={t(`tokens.states.${stateOf(token)}`)} />
  );
  const action = (token: Token) =>
    stateOf(token) === 'ACTIVE' && (
      <Button size="small" onClick={() => onRevoke(token)}>
        {t('tokens.revoke')}
      </Button>
    );
  const columns: Column<Token>[] = [
    { id: 'name', header: t('tokens.name'), cell: ({ row }) => <Name token={row.original} /> },
    { id: 'state', header: t('tokens.state'), cell: ({ row }) => state(row.original) },
    { id: 'expires', header: t('tokens.expires'), meta: FACT, cell: ({ row }) => expires(row.original) },
    { id: 'used', header: t('tokens.used'), meta: FACT, cell: ({ row }) => <Used token={row.original} /> },
    {
      id: 'action',
      header: t('tokens.actions'),
      meta: { silent: true, right: true },
      cell: ({ row }) => action(row.original),
    },
  ];
  return (
    <DataTable
      label={t('profile.tabs.tokens')}
      rows={tokens}
      idOf={({ id }) => id}
      columns={columns}
      card={(token) => (
        <div className="flex flex-wrap items-center justify-between gap-3 text-table">
          <div className="min-w-0">
            <Name token={token} />
          </div>
          {state(token)}
          {action(token)}
        </div>
      )}
    />
  );
}

function Name({ token: { name, prefix, scopes } }: { token: Token }) {
  const { t } = useTranslation();
  return (
    <>
      <div className="font-[550]">
        {name} <code className="font-normal text-ink-3">{prefix}…</code>
      </div>
      <div className="text-hint text-ink-3">
        {scopes.map((scope) => t(`tokens.scope.${scope}`)).join(t('state.separator'))}
      </div>
    </>
  );
}

function Used({ token: { lastUsedAt } }: { token: Token }) {
  const { t } = useTranslation();
  return lastUsedAt === null ? t('state.never') : <Ago at={lastUsedAt} />;
}
