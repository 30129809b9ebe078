/**
 * Asks for a mail with a link to set a new password. The answer is the same whether an account exists or not.
 */
import { Link } from '@tanstack/react-router';
import { MailCheck } from 'lucide-react';
import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { Banner } from '../../components/notice.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { textIn } from '../form-values.ts';
import { AccountFrame } from '../sign-in/account-frame.tsx';
import { useSubmit } from '../use-submit.ts';

const MailQuery = graphql(`
  query MailOffered {
    signInOptions {
      mail
    }
  }
`);

const RequestReset = graphql(
  `
    mutation RequestReset($input: EmailInput!) {
      passwordResetRequest(input: $input) {
        ok
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** Shows the form. If no mail server is configured, the page says whom the user can ask. */
export function ForgotPage() {
  const { t } = useTranslation();
  const [{ data, error }] = useQuery({ query: MailQuery });
  // If the question about mail fails, the form shows why its own request fails.
  const isOffered = data?.signInOptions.mail === true || (data === undefined && error !== undefined);
  const [, request] = useMutation(RequestReset);
  const [sentTo, setSentTo] = useState<string>();
  const { busy, failure, submit } = useSubmit({
    send: async (values) => {
      const answer = await request({ input: { email: textIn(values, 'email').trim() } });
      return { error: answer.error, userErrors: answer.data?.passwordResetRequest.userErrors };
    },
    onDone: (form) => setSentTo(textIn(new FormData(form), 'email').trim()),
  });
  const back = (
    <Link to="/sign-in" className="font-[550] text-accent hover:underline">
      {t('account.backToSignIn')}
    </Link>
  );
  return (
    <AccountFrame title={t('account.forgotTitle')} sentence={back} failure={failure}>
      {data?.signInOptions.mail === false && <p>{t('account.noMail')}</p>}
      {sentTo !== undefined && (
        <Banner tone="accent" icon={<MailCheck size={16} strokeWidth={1.75} aria-hidden="true" />}>
          {t('account.resetSent', { email: sentTo })}
        </Banner>
      )}
      {isOffered && sentTo === undefined && (
        <form className="flex flex-col gap-5" onSubmit={(event) => void submit(event)}>
          <Field
            label={t('account.email')}
            name="email"
            type="email"
            tall
            required
            autoFocus
            autoComplete="username"
          />
          <Button type="submit" variant="primary" size="form" wide busy={busy}>
            {t('account.resetSend')}
          </Button>
        </form>
      )}
    </AccountFrame>
  );
}
