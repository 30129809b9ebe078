/** Dialogs that end one session, or disable one key, of a user. */
import { useMutation } from 'urql';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { Ago } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { browserOf } from '../../profile/user-agent.ts';
import { FormDialog } from '../form-dialog.tsx';
import { DisableKey, RevokeSession } from './user-changes.ts';
import type { UserSession } from './user-documents.ts';
import type { UserKey } from './user-key-documents.ts';

/** Ends the session. */
export function EndSession({ session, onClose }: { session: UserSession; onClose: () => void }) {
  const { t } = useTranslation();
  const [, revoke] = useMutation(RevokeSession);
  return (
    <FormDialog
      title={t('admin.user.endTitle', { name: browserOf(session.userAgent) ?? t('session.unknown') })}
      sentence={t('admin.user.endSentence')}
      button={t('admin.user.end')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await revoke({ input: { id: session.id, reason } });
        return { error, userErrors: data?.adminSessionRevoke.userErrors };
      }}
    />
  );
}

/** Disables the key. */
export function DisableUserKey({ apiKey, onClose }: { apiKey: UserKey; onClose: () => void }) {
  const { t } = useTranslation();
  const [, disable] = useMutation(DisableKey);
  const { lastUsedAt, spentThisMonth } = apiKey;
  return (
    <FormDialog
      title={t('admin.user.disableTitle', { name: apiKey.name })}
      sentence={t('admin.user.disableSentence')}
      button={t('admin.user.disable')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await disable({ input: { id: apiKey.id, reason } });
        return { error, userErrors: data?.adminApiKeyDisable.userErrors };
      }}
    >
      <LeaderList>
        <LeaderRow name={t('keys.lastUsed')}>
          {lastUsedAt === null ? t('state.never') : <Ago at={lastUsedAt} />}
        </LeaderRow>
        <LeaderRow name={t('keys.month')}>
          <Money amount={spentThisMonth} />
        </LeaderRow>
      </LeaderList>
    </FormDialog>
  );
}
