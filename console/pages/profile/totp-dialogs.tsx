/** Dialogs that set up an authenticator app, with its recovery codes, and turn it off. */
import { useEffect, useRef, useState } from 'react';
import { useClient, useMutation } from 'urql';
import { CopyField } from '../../components/copy.tsx';
import { Field } from '../../components/field.tsx';
import { SkeletonRows } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { textIn } from '../form-values.ts';
import { ProofFields, proofIn } from '../proof/proof-fields.tsx';
import { FailureBanner, TaskDialog } from '../task-dialog.tsx';
import { QrPicture } from '../../components/qr-picture.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

const EnrolTotp = graphql(
  `
    mutation EnrolTotp {
      totpEnrol {
        otpauthUri
        secret
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

const ConfirmTotp = graphql(
  `
    mutation ConfirmTotp($input: TotpConfirmInput!) {
      totpConfirm(input: $input) {
        recoveryCodes
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

const RemoveTotp = graphql(
  `
    mutation RemoveTotp($input: ReauthenticateInput!) {
      totpDisable(input: $input) {
        viewer {
          id
          securityFactors {
            hasPassword
            totpEnabled
            recoveryCodesLeft
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

interface Enrolled {
  uri: string;
  secret: string;
}

/** Shows the QR code, asks for a code from the app, then shows the recovery codes. */
export function TotpSetUp({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const client = useClient();
  const [codes, setCodes] = useState<readonly string[]>();
  const { enrolled, failure } = useEnrolment(onClose);
  if (codes) return <RecoveryCodes codes={codes} onClose={onClose} />;
  return (
    <TaskDialog
      title={t('totp.scanTitle')}
      sentence={t('totp.scanSentence')}
      button={t('totp.confirm')}
      onClose={onClose}
      onDone={() => undefined}
      send={async (values) => {
        if (!enrolled) return undefined;
        const input = { code: textIn(values, 'code').trim() };
        const { data, error } = await client.mutation(ConfirmTotp, { input }).toPromise();
        setCodes(data?.totpConfirm.recoveryCodes ?? undefined);
        return { error, userErrors: data?.totpConfirm.userErrors };
      }}
    >
      {failure !== undefined && <FailureBanner words={t('totp.preparing', { reason: failure })} />}
      {enrolled ? <Scan {...enrolled} /> : <SkeletonRows rows={4} />}
    </TaskDialog>
  );
}

function Scan({ uri, secret }: Enrolled) {
  const { t } = useTranslation();
  return (
    <>
      <QrPicture text={uri} label={t('totp.picture')} />
      <div className="flex flex-col items-start gap-2">
        <span className="text-table font-[550]">{t('totp.secret')}</span>
        <CopyField text={secret} label={t('totp.copySecret')} />
      </div>
      <Field
        label={t('totp.code')}
        name="code"
        required
        data-focus-first
        inputMode="numeric"
        pattern="[0-9]{6}"
        autoComplete="one-time-code"
        hint={t('totp.codeHint')}
      />
    </>
  );
}

// Not useMutation: its state would keep the secret as long as the page exists.
function useEnrolment(onRefused: () => void) {
  const client = useClient();
  const failureWords = useFailureWords();
  const [enrolled, setEnrolled] = useState<Enrolled>();
  const [failure, setFailure] = useState<string>();
  const started = useRef(false);
  useEffect(() => {
    // Every call creates another secret.
    if (started.current) return;
    started.current = true;
    void client
      .mutation(EnrolTotp, {})
      .toPromise()
      .then(({ data, error }) => {
        if (error?.graphQLErrors.some(({ extensions }) => extensions['code'] === 'REAUTH_REQUIRED'))
          return onRefused();
        setFailure(failureWords(error, data?.totpEnrol.userErrors));
        const { otpauthUri: uri, secret } = data?.totpEnrol ?? {};
        if (uri && secret) setEnrolled({ uri, secret });
      });
  }, [client, failureWords, onRefused]);
  return { enrolled, failure };
}

/** Turns the app off, with the password and a code from the app or a recovery code. */
export function TotpRemoval({ email, onClose }: { email: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [, remove] = useMutation(RemoveTotp);
  const toast = useToast();
  return (
    <TaskDialog
      title={t('totp.removeTitle')}
      sentence={t('totp.removeSentence')}
      button={t('totp.removeButton')}
      destructive
      onClose={onClose}
      onDone={() => {
        toast({ text: t('totp.removed') });
        onClose();
      }}
      send={async (values) => {
        const { data, error } = await remove({ input: proofIn(values) });
        return { error, userErrors: data?.totpDisable.userErrors };
      }}
    >
      <ProofFields email={email} totp />
    </TaskDialog>
  );
}
