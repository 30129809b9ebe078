/** The menu behind the account: theme, language, sign out; on a phone also the pages that have no tab. */
import { useNavigate } from '@tanstack/react-router';
import { FileText, LogOut, Tag } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMutation } from 'urql';
import { MenuChoices, MenuItem, MenuRule } from '../../components/menu.tsx';
import { useStore } from '../../components/store.ts';
import { setTheme, theme, THEMES } from '../../components/theme.ts';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { LANGUAGE_NAMES, type Language, LANGUAGES, setLanguage } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { useFailureWords } from '../failure-words.ts';

const SignOut = graphql(`
  mutation SignOut {
    signOut {
      ok
    }
  }
`);

/** The items of the account menu. */
export function AccountMenu({ email, places = false }: { email?: string; places?: boolean }) {
  const { t, i18n } = useTranslation();
  const chosen = useStore(theme);
  const signOut = useSignOut();
  const language = LANGUAGES.find((name) => name === i18n.language) ?? 'en';
  return (
    <>
      {email !== undefined && <div className="truncate px-2.5 py-2 text-hint text-ink-3">{email}</div>}
      {places && <Places />}
      <MenuChoices
        label={t('shell.theme')}
        value={chosen}
        onChange={setTheme}
        options={THEMES.map((name) => ({ value: name, word: t(`shell.themes.${name}`) }))}
      />
      <MenuRule />
      <MenuChoices
        label={t('shell.language')}
        value={language}
        onChange={(next: Language) => void setLanguage(next, true)}
        options={LANGUAGES.map((name) => ({ value: name, word: LANGUAGE_NAMES[name] }))}
      />
      <MenuRule />
      <MenuItem icon={LogOut} word={t('shell.signOut')} onSelect={() => void signOut()} />
    </>
  );
}

function Places() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <>
      <MenuItem icon={Tag} word={t('shell.pricing')} onSelect={() => void navigate({ to: '/pricing' })} />
      <MenuItem
        icon={FileText}
        word={t('shell.policy')}
        onSelect={() => void navigate({ to: '/privacy-policy' })}
      />
      <MenuRule />
    </>
  );
}

function useSignOut(): () => Promise<void> {
  const [, send] = useMutation(SignOut);
  const { changed } = useSession();
  const navigate = useNavigate();
  const failureWords = useFailureWords();
  const toast = useToast();
  return async () => {
    const { error } = await send({});
    const reason = failureWords(error, undefined);
    if (reason !== undefined) return toast({ text: reason, failed: true });
    await navigate({ to: '/sign-in' });
    changed();
  };
}
