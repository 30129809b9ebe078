/** The email address of the account: verification and change. */
import { CircleAlert, CircleCheck } from 'lucide-react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { textIn } from '../form-values.ts';
import { useSubmit } from '../use-submit.ts';
import { type Account, RequestEmailChange, RequestVerification } from './documents.ts';

interface EmailPartProps {
  account: Account;
  /** Whether the gateway sends mail. */
  mail: boolean;
}

/** The address. If the gateway sends mail, it can be verified and changed. */
export function EmailPart({ account, mail }: EmailPartProps) {
  const { t } = useTranslation();
  const verified = account.emailVerifiedAt !== null;
  return (
    <div className="flex max-w-[420px] flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <span className="font-[550] break-all">{account.email}</span>
        {mail && (
          <StateWord
            icon={verified ? CircleCheck : CircleAlert}
            tone={verified ? 'good' : 'warn'}
            word={verified ? t('profile.verified') : t('profile.unverified')}
          />
        )}
      </div>
      {mail && !verified && <VerifyButton />}
      {mail ? <ChangeForm /> : <p className="text-hint text-ink-3">{t('profile.emailByAdmin')}</p>}
    </div>
  );
}

function VerifyButton() {
  const { t } = useTranslation();
  const [{ fetching }, request] = useMutation(RequestVerification);
  const failureWords = useFailureWords();
  const toast = useToast();
  const send = async () => {
    const { data, error } = await request({});
    const reason = failureWords(error, data?.emailVerificationRequest.userErrors);
    toast(reason === undefined ? { text: t('profile.linkSent') } : { text: reason, failed: true });
  };
  return (
    <div>
      <Button busy={fetching} onClick={() => void send()}>
        {t('profile.verify')}
      </Button>
    </div>
  );
}

function ChangeForm() {
  const { t } = useTranslation();
  const [, request] = useMutation(RequestEmailChange);
  const toast = useToast();
  const { busy, failure, submit } = useSubmit({
    send: async (values) => {
      const { data, error } = await request({ input: { email: textIn(values, 'email').trim() } });
      return { error, userErrors: data?.emailChangeRequest.userErrors };
    },
    onDone: (form) => {
      form.reset();
      toast({ text: t('profile.linkSent') });
    },
  });
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
      <Field
        label={t('profile.newEmail')}
        name="email"
        type="email"
        required
        autoComplete="email"
        hint={t('profile.newEmailHint')}
        error={failure}
      />
      <div>
        <Button type="submit" busy={busy}>
          {t('profile.changeEmail')}
        </Button>
      </div>
    </form>
  );
}
