/** Dialogs of users: create, edit, adjust wallet, sign-in link, sessions, keys. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { formatDollars, parseDollars } from '@gateway/shared/money';
import { Button } from '../../../components/button.tsx';
import { CopyField } from '../../../components/copy.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Field } from '../../../components/field.tsx';
import { moneyText } from '../../../components/money.tsx';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { useIdempotencyKey } from '../../idempotency.ts';
import { GROUPS } from '../../keys/search.ts';
import type { AdminUser } from './documents.ts';
import { FormDialog, text, words } from '../form-dialog.tsx';
import { AdjustWallet, CreateLink, CreateUser, RevokeSessions, UpdateUser } from './user-changes.ts';
import { DisableUserKey, EndSession } from './user-part-dialogs.tsx';
import { UserReach } from './user-reach.tsx';
import type { UserTask } from './user-tasks.ts';

interface DialogsProps {
  task: UserTask;
  onClose: () => void;
  onChanged: () => void;
}

/** The dialog of the task. */
export function UserDialogs({ task, onClose, onChanged }: DialogsProps) {
  switch (task.kind) {
    case 'create':
      return <Create onClose={onClose} onChanged={onChanged} />;
    case 'edit':
      return <Edit user={task.user} onClose={onClose} />;
    case 'adjust':
      return <Adjust user={task.user} onClose={onClose} />;
    case 'link':
      return <SignInLink user={task.user} onClose={onClose} />;
    case 'sessions':
      return <Sessions user={task.user} onClose={onClose} />;
    case 'session':
      return <EndSession session={task.session} onClose={onClose} />;
    case 'key':
      return <DisableUserKey apiKey={task.key} onClose={onClose} />;
  }
}

const ROLES = ['USER', 'ADMIN'] as const;
const STATES = ['ACTIVE', 'SUSPENDED'] as const;
const BUCKETS = ['GIFT', 'CASH'] as const;

interface FieldsProps {
  role: (typeof ROLES)[number];
  groups: readonly string[];
}

function RoleFields({ role, groups }: FieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <SelectField
        label={t('admin.users.role')}
        name="role"
        defaultValue={role}
        options={ROLES.map((value) => ({ value, word: t(`admin.users.roles.${value}`) }))}
      />
      <CheckField
        legend={t('admin.users.allowed')}
        name="groups"
        checked={groups}
        options={GROUPS.map((value) => ({ value, word: t(`groups.${value}`) }))}
      />
    </>
  );
}

function Create({ onClose, onChanged }: Omit<DialogsProps, 'task'>) {
  const { t } = useTranslation();
  const [, create] = useMutation(CreateUser);
  return (
    <FormDialog
      title={t('admin.users.create')}
      sentence={t('admin.users.createSentence')}
      button={t('admin.users.create')}
      onClose={onClose}
      send={async (values, reason) => {
        const [role = 'USER'] = words(values, 'role', ROLES);
        const allowedGroups = words(values, 'groups', GROUPS);
        const input = { email: text(values, 'email'), role, allowedGroups, reason };
        const { data, error } = await create({ input });
        if (data?.adminUserCreate.user) onChanged();
        return { error, userErrors: data?.adminUserCreate.userErrors };
      }}
    >
      <Field label={t('admin.users.email')} name="email" type="email" required autoComplete="off" />
      <RoleFields role="USER" groups={['DEFAULT']} />
    </FormDialog>
  );
}

interface TaskProps {
  user: AdminUser;
  onClose: () => void;
}

function Edit({ user, onClose }: TaskProps) {
  const { t } = useTranslation();
  const [, update] = useMutation(UpdateUser);
  return (
    <FormDialog
      title={t('admin.users.editTitle', { name: user.email })}
      sentence={t('admin.users.editSentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={async (values, reason) => {
        const [role = user.role] = words(values, 'role', ROLES);
        const [state = user.state] = words(values, 'state', STATES);
        const allowedGroups = words(values, 'groups', GROUPS);
        const { data, error } = await update({ input: { id: user.id, role, state, allowedGroups, reason } });
        return { error, userErrors: data?.adminUserUpdate.userErrors };
      }}
    >
      <SelectField
        label={t('admin.state')}
        name="state"
        defaultValue={user.state}
        options={STATES.map((value) => ({ value, word: t(`admin.users.states.${value}`) }))}
      />
      <RoleFields role={user.role} groups={user.allowedGroups} />
      <UserReach id={user.id} />
    </FormDialog>
  );
}

function Adjust({ user, onClose }: TaskProps) {
  const { t } = useTranslation();
  const [, adjust] = useMutation(AdjustWallet);
  const idempotencyKeyFor = useIdempotencyKey();
  const { cash, gift } = user.wallet;
  const [amount, setAmount] = useState('');
  const [bucket, setBucket] = useState<string>(BUCKETS[0]);
  return (
    <FormDialog
      title={t('admin.users.adjustTitle', { name: user.email })}
      sentence={t('admin.users.adjustSentence', { cash: moneyText(cash), gift: moneyText(gift) })}
      button={t('admin.users.adjustButton')}
      onClose={onClose}
      send={async (values, reason) => {
        const [bucket = 'GIFT'] = words(values, 'bucket', BUCKETS);
        const input = { userId: user.id, bucket, amount: text(values, 'amount'), reason };
        const idempotencyKey = idempotencyKeyFor(input);
        const { data, error } = await adjust({ input: { ...input, idempotencyKey } });
        return { error, userErrors: data?.adminWalletAdjust.userErrors };
      }}
    >
      <SelectField
        label={t('wallet.bucket')}
        name="bucket"
        value={bucket}
        onChange={(event) => setBucket(event.target.value)}
        options={BUCKETS.map((value) => ({ value, word: t(`wallet.buckets.${value}`) }))}
      />
      <Field
        label={t('wallet.amount')}
        name="amount"
        value={amount}
        onChange={(event) => setAmount(event.target.value)}
        inputMode="decimal"
        required
        pattern="-?[0-9]+([.][0-9]{1,6})?"
        before={<span className="text-ink-3">$</span>}
        hint={t('admin.users.amountHint')}
        autoComplete="off"
      />
      <Preview balance={bucket === 'CASH' ? cash : gift} amount={amount} />
    </FormDialog>
  );
}

/** The balance after the entry, while the amount is typed. */
function Preview({ balance, amount }: { balance: string; amount: string }) {
  const { t } = useTranslation();
  const [now, change] = [parseDollars(balance), parseDollars(amount.trim())];
  if (now === undefined || now === null || change === undefined || change === null) return null;
  const after = now + change;
  return (
    <p role="status" className={after < 0n ? 'text-bad' : 'text-ink-2'}>
      {after < 0n
        ? t('admin.users.tooMuch')
        : t('admin.users.preview', { before: moneyText(balance), after: moneyText(formatDollars(after)) })}
    </p>
  );
}

function SignInLink({ user, onClose }: TaskProps) {
  const { t } = useTranslation();
  const [, create] = useMutation(CreateLink);
  const [url, setUrl] = useState<string>();
  if (url !== undefined) {
    return (
      <Dialog
        open
        onClose={onClose}
        title={t('admin.users.linkTitle', { name: user.email })}
        sentence={t('admin.users.linkSentence')}
        footer={
          <Button variant="primary" onClick={onClose}>
            {t('dialog.close')}
          </Button>
        }
      >
        <CopyField text={url} label={t('admin.users.copyLink')} />
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={t('admin.users.linkTitle', { name: user.email })}
      sentence={t('admin.users.linkSentence')}
      button={t('admin.users.linkButton')}
      onClose={onClose}
      onDone={() => undefined}
      send={async (_, reason) => {
        const { data, error } = await create({ input: { id: user.id, reason } });
        setUrl(data?.adminUserLinkCreate.url ?? undefined);
        return { error, userErrors: data?.adminUserLinkCreate.userErrors };
      }}
    />
  );
}

function Sessions({ user, onClose }: TaskProps) {
  const { t } = useTranslation();
  const [, revoke] = useMutation(RevokeSessions);
  return (
    <FormDialog
      title={t('admin.users.sessionsTitle', { name: user.email })}
      sentence={t('admin.users.sessionsSentence')}
      button={t('admin.users.sessionsButton')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await revoke({ input: { id: user.id, reason } });
        return { error, userErrors: data?.adminUserSessionsRevoke.userErrors };
      }}
    >
      <UserReach id={user.id} />
    </FormDialog>
  );
}
