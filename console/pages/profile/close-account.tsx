/** The dialog that closes the account. The user types the address and gives the password. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import { useSession } from '../../session.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { ProofFields, proofIn } from '../proof/proof-fields.tsx';
import { TaskDialog } from '../task-dialog.tsx';
import { AtStake } from './at-stake.tsx';
import { type Account, CloseAccount } from './documents.ts';
import { TypedWord } from './typed-word.tsx';

interface CloseAccountProps {
  account: Pick<Account, 'email' | 'securityFactors'>;
  onClose: () => void;
}

/** The dialog. Afterwards the user is signed out. */
export function CloseAccountDialog({ account, onClose }: CloseAccountProps) {
  const { t } = useTranslation();
  const [, close] = useMutation(CloseAccount);
  const [mistyped, setMistyped] = useState(false);
  const { changed } = useSession();
  const navigate = useNavigate();
  return (
    <TaskDialog
      title={t('profile.closeTitle')}
      sentence={t('profile.closeSentence')}
      button={t('profile.closeConfirm')}
      destructive
      onClose={onClose}
      onDone={() => {
        void navigate({ to: '/sign-in' }).then(changed);
      }}
      send={async (values) => {
        const wrong = textIn(values, 'typed').trim() !== account.email;
        setMistyped(wrong);
        if (wrong) return undefined;
        const { data, error } = await close({ input: proofIn(values) });
        return { error, userErrors: data?.accountDelete.userErrors };
      }}
    >
      <AtStake everything />
      <TypedWord word={account.email} wrong={mistyped} />
      <ProofFields email={account.email} totp={account.securityFactors.totpEnabled} />
    </TaskDialog>
  );
}
