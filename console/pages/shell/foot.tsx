/** The footer of public pages: links, theme, language. */
import { clsx } from 'clsx';
import { Link } from '@tanstack/react-router';
import { Select } from '../../components/select-field.tsx';
import { useStore } from '../../components/store.ts';
import { setTheme, theme, THEMES } from '../../components/theme.ts';
import { LANGUAGE_NAMES, type Language, LANGUAGES, setLanguage } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';

/** The footer. */
export function Foot() {
  const { t } = useTranslation();
  return (
    <footer
      className={clsx(
        'flex flex-none flex-wrap items-center gap-x-5 gap-y-1 px-10 py-5 text-table',
        'text-ink-2 max-sm:px-4 print:hidden',
      )}
    >
      <nav aria-label={t('shell.footer')} className="flex flex-wrap gap-x-5">
        <Link to="/pricing" className="py-1 hover:text-ink">
          {t('shell.pricing')}
        </Link>
        <Link to="/status" className="py-1 hover:text-ink">
          {t('shell.status')}
        </Link>
        <Link to="/privacy-policy" className="py-1 hover:text-ink">
          {t('shell.policy')}
        </Link>
        <Link to="/help" className="py-1 hover:text-ink">
          {t('shell.help')}
        </Link>
      </nav>
      <div className="ml-auto flex gap-1 max-sm:-ml-2">
        <ThemeSelect />
        <LanguageSelect />
      </div>
    </footer>
  );
}

/** The languages, each by its own name. */
function LanguageSelect() {
  const { t, i18n } = useTranslation();
  return (
    <Select
      aria-label={t('shell.language')}
      value={i18n.language}
      className={SELECT}
      onChange={(event) => {
        const chosen = LANGUAGES.find((name) => name === event.target.value);
        if (chosen) void setLanguage(chosen, true);
      }}
    >
      {LANGUAGES.map((name: Language) => (
        <option key={name} value={name} lang={name}>
          {LANGUAGE_NAMES[name]}
        </option>
      ))}
    </Select>
  );
}

function ThemeSelect() {
  const { t } = useTranslation();
  const chosen = useStore(theme);
  return (
    <Select
      // theme.js finds it by this name.
      name="theme"
      aria-label={t('shell.theme')}
      value={chosen}
      className={SELECT}
      onChange={(event) => {
        setTheme(THEMES.find((name) => name === event.target.value) ?? 'system');
      }}
    >
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {t(`shell.themes.${name}`)}
        </option>
      ))}
    </Select>
  );
}

const SELECT = 'h-7 rounded-control bg-page pr-7 pl-2 hover:text-ink touch:h-11';
