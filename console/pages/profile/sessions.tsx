/** The signed-in browsers, with buttons that end their sessions. */
import { useNavigate } from '@tanstack/react-router';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FACT } from '../../components/table-types.ts';
import { Tag } from '../../components/tag.tsx';
import { Ago } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { useSession } from '../../session.tsx';
import { browserOf } from './user-agent.ts';
import { EndOthers, EndOwn, EndSession, type Session } from './documents.ts';

interface SessionsProps {
  sessions: readonly Session[];
  onEnded: () => void;
}

const seen = ({ lastSeenAt }: Session) => <Ago at={lastSeenAt} />;

/** The list. */
export function Sessions({ sessions, onEnded }: SessionsProps) {
  const { t } = useTranslation();
  const { end, endOthers, endAll } = useEnding(onEnded);
  const name = ({ userAgent, current }: Session) => (
    <span className="flex flex-wrap items-center gap-2 font-[550]" title={userAgent ?? undefined}>
      {browserOf(userAgent) ?? t('session.unknown')} {current && <Tag>{t('profile.thisOne')}</Tag>}
    </span>
  );
  const action = (session: Session) =>
    !session.current && (
      <Button size="small" onClick={() => void end(session.id)}>
        {t('profile.end')}
      </Button>
    );
  const address = ({ ip }: Session) => <code>{ip ?? t('state.none')}</code>;
  return (
    <>
      <DataTable
        label={t('profile.sessions')}
        rows={sessions}
        idOf={({ id }) => id}
        columns={[
          { id: 'name', header: t('session.browser'), cell: ({ row }) => name(row.original) },
          { id: 'seen', header: t('session.seen'), meta: FACT, cell: ({ row }) => seen(row.original) },
          { id: 'ip', header: t('session.ip'), cell: ({ row }) => address(row.original) },
          {
            id: 'end',
            header: t('profile.end'),
            meta: { silent: true, right: true },
            cell: ({ row }) => action(row.original),
          },
        ]}
        card={(session) => (
          <div className="flex items-center justify-between gap-3 text-table">
            <div>
              {name(session)} {address(session)}
            </div>
            {action(session)}
          </div>
        )}
      />
      <div className="mt-4 flex flex-wrap gap-2">
        {sessions.length > 1 && <Button onClick={() => void endOthers()}>{t('profile.endOthers')}</Button>}
        <Button variant="destructive" onClick={() => void endAll()}>
          {t('profile.endAll')}
        </Button>
      </div>
    </>
  );
}

function useEnding(onEnded: () => void) {
  const { t } = useTranslation();
  const [, endOne] = useMutation(EndSession);
  const [, endRest] = useMutation(EndOthers);
  const [, endOwn] = useMutation(EndOwn);
  const { changed } = useSession();
  const navigate = useNavigate();
  const failureWords = useFailureWords();
  const toast = useToast();
  const report = (reason: string | undefined) => {
    toast(reason === undefined ? { text: t('profile.ended') } : { text: reason, failed: true });
    onEnded();
  };
  return {
    end: async (id: string) => {
      const { data, error } = await endOne({ input: { id } });
      report(failureWords(error, data?.sessionRevoke.userErrors));
    },
    endOthers: async () => {
      const { data, error } = await endRest({});
      report(failureWords(error, data?.sessionsRevokeOthers.userErrors));
    },
    endAll: async () => {
      const others = await endRest({});
      const reason = failureWords(others.error, others.data?.sessionsRevokeOthers.userErrors);
      // This session ends last: afterwards, the others could no longer be ended.
      const own = reason === undefined ? failureWords((await endOwn({})).error, undefined) : reason;
      if (own !== undefined) return report(own);
      await navigate({ to: '/sign-in' });
      changed();
    },
  };
}
