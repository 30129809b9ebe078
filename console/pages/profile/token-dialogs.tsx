/** Dialogs that create an access token, which is shown once, and revoke one. */
import { useState } from 'react';
import { useClient, useMutation } from 'urql';
import { Below, Field } from '../../components/field.tsx';
import { CopyField } from '../../components/copy.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { OnceDialog } from '../../components/once-dialog.tsx';
import { CheckField, SelectField } from '../../components/select-field.tsx';
import { Ago } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { TaskDialog } from '../task-dialog.tsx';
import { useOnceWords } from './once-words.ts';
import {
  ADMIN_SCOPES,
  CreateToken,
  RevokeToken,
  type Scope,
  type Token,
  USER_SCOPES,
} from './token-documents.ts';

const NAME_CHARACTERS_MAX = 80;
const DAYS = ['7', '30', '90', '365'] as const;
const DAYS_DEFAULT = '90';

interface TokenDialogProps {
  admin: boolean;
  open: 'create' | Token;
  onClose: () => void;
}

/** The dialog that is open. */
export function TokenDialog({ admin, open, onClose }: TokenDialogProps) {
  return open === 'create' ? (
    <Create admin={admin} onClose={onClose} />
  ) : (
    <Revoke token={open} onClose={onClose} />
  );
}

function Create({ admin, onClose }: Omit<TokenDialogProps, 'open'>) {
  const { t } = useTranslation();
  // Not useMutation: its state would keep the secret as long as the page exists.
  const client = useClient();
  const [secret, setSecret] = useState<string>();
  const [unscoped, setUnscoped] = useState(false);
  const known: readonly Scope[] = admin ? [...USER_SCOPES, ...ADMIN_SCOPES] : USER_SCOPES;
  const send = async (values: FormData) => {
    const scopes = known.filter((scope) => values.getAll('scopes').includes(scope));
    setUnscoped(scopes.length === 0);
    if (scopes.length === 0) return undefined;
    const input = {
      name: textIn(values, 'name').trim(),
      scopes,
      expiresInDays: Number(textIn(values, 'days')),
    };
    const { data, error } = await client.mutation(CreateToken, { input }).toPromise();
    setSecret(data?.accessTokenCreate.secret ?? undefined);
    return { error, userErrors: data?.accessTokenCreate.userErrors };
  };
  if (secret !== undefined) return <TokenOnce secret={secret} onClose={onClose} />;
  return (
    <TaskDialog
      title={t('tokens.create')}
      sentence={t('tokens.sentence')}
      button={t('tokens.create')}
      onClose={onClose}
      onDone={() => undefined}
      send={send}
    >
      <TokenFields known={known} />
      {unscoped && <Below id="token-scopes" error={t('tokens.scopesNeeded')} />}
    </TaskDialog>
  );
}

function TokenFields({ known }: { known: readonly Scope[] }) {
  const { t } = useTranslation();
  return (
    <>
      <Field
        label={t('tokens.name')}
        name="name"
        required
        maxLength={NAME_CHARACTERS_MAX}
        autoComplete="off"
      />
      <SelectField
        label={t('tokens.days')}
        name="days"
        defaultValue={DAYS_DEFAULT}
        options={DAYS.map((value) => ({ value, word: t('tokens.dayChoice', { count: Number(value) }) }))}
      />
      <CheckField
        legend={t('tokens.scopes')}
        name="scopes"
        checked={[]}
        options={known.map((value) => ({ value, word: t(`tokens.scope.${value}`) }))}
      />
    </>
  );
}

function TokenOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { t } = useTranslation();
  const words = useOnceWords(t('tokens.onceTitle'), t('tokens.onceSentence'));
  return (
    <OnceDialog words={words} onClose={onClose}>
      <div role="group" aria-label={t('tokens.secret')}>
        <CopyField text={secret} label={t('tokens.copy')} />
      </div>
    </OnceDialog>
  );
}

function Revoke({ token, onClose }: { token: Token; onClose: () => void }) {
  const { t } = useTranslation();
  const [, revoke] = useMutation(RevokeToken);
  const toast = useToast();
  const { id, name, lastUsedAt } = token;
  return (
    <TaskDialog
      title={t('tokens.revokeTitle', { name })}
      sentence={t('tokens.revokeSentence')}
      button={t('tokens.revokeButton')}
      destructive
      onClose={onClose}
      onDone={() => {
        toast({ text: t('tokens.revoked', { name }) });
        onClose();
      }}
      send={async () => {
        const { data, error } = await revoke({ input: { id } });
        return { error, userErrors: data?.accessTokenRevoke.userErrors };
      }}
    >
      <LeaderList>
        <LeaderRow name={t('tokens.used')}>
          {lastUsedAt === null ? t('state.never') : <Ago at={lastUsedAt} />}
        </LeaderRow>
      </LeaderList>
    </TaskDialog>
  );
}
