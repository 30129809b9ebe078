/** The account: name, email address, time zone, mail language, and closing the account. */
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Below, Field } from '../../components/field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { Day } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { LANGUAGE_NAMES, LANGUAGES } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { useSubmit } from '../use-submit.ts';
import { type Account, AccountQuery, UpdateProfile } from './documents.ts';
import { Closing } from './closing.tsx';
import { EmailPart } from './email-part.tsx';
import { Part, ProfileFrame } from './profile-frame.tsx';

const NAME_CHARACTERS_MAX = 80;

/** The page. */
export function AccountPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: AccountQuery });
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={again}>
      {(account) => (
        <>
          <Part title={t('profile.person')} sentence={<Since at={account.createdAt} />}>
            <Person account={account} />
          </Part>
          <Part title={t('profile.email')}>
            <EmailPart account={account} mail={data?.signInOptions.mail === true} />
          </Part>
          <Part title={t('profile.close')} sentence={t('profile.closeSentence')}>
            <Closing account={account} />
          </Part>
        </>
      )}
    </ProfileFrame>
  );
}

function Since({ at }: { at: string }) {
  const { t } = useTranslation();
  return (
    <>
      {t('profile.since')} <Day at={at} />
    </>
  );
}

function Person({ account }: { account: Account }) {
  const { t } = useTranslation();
  const [, update] = useMutation(UpdateProfile);
  const toast = useToast();
  const { busy, failure, submit } = useSubmit({
    send: async (values) => {
      const displayName = textIn(values, 'name').trim();
      const { data, error } = await update({
        input: {
          displayName: displayName === '' ? null : displayName,
          timeZone: textIn(values, 'zone'),
          locale: textIn(values, 'locale'),
        },
      });
      return { error, userErrors: data?.profileUpdate.userErrors };
    },
    onDone: () => toast({ text: t('profile.saved') }),
  });
  return (
    <form className="flex max-w-[420px] flex-col gap-5" onSubmit={(event) => void submit(event)}>
      <Field
        label={t('profile.name')}
        name="name"
        maxLength={NAME_CHARACTERS_MAX}
        defaultValue={account.displayName ?? ''}
        hint={t('profile.nameHint')}
        autoComplete="name"
      />
      <ZoneFields account={account} />
      {failure !== undefined && <Below id="account-failure" error={failure} />}
      <div>
        <Button type="submit" busy={busy}>
          {t('profile.save')}
        </Button>
      </div>
    </form>
  );
}

function ZoneFields({ account }: { account: Account }) {
  const { t } = useTranslation();
  const zones = new Set([account.timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')]);
  return (
    <>
      <div className="flex flex-col gap-2">
        <SelectField
          label={t('profile.zone')}
          name="zone"
          defaultValue={account.timeZone}
          options={[...zones].map((value) => ({ value, word: value.replaceAll('_', ' ') }))}
        />
        <span className="text-hint text-ink-3">{t('profile.zoneHint')}</span>
      </div>
      <SelectField
        label={t('profile.mailLanguage')}
        name="locale"
        defaultValue={account.locale}
        options={LANGUAGES.map((value) => ({ value, word: LANGUAGE_NAMES[value] }))}
      />
    </>
  );
}
