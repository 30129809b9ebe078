/** Settings of this device: theme, language, single-key shortcuts. */
import type { ReactNode } from 'react';
import { Checkbox, Segmented } from '../../components/field.tsx';
import { setSingleKeys, singleKeys } from '../../components/shortcuts.ts';
import { useStore } from '../../components/store.ts';
import { setTheme, theme, THEMES } from '../../components/theme.ts';
import { LANGUAGE_NAMES, LANGUAGES, setLanguage } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { useViewer } from '../shell/viewer.ts';
import { Part, ProfileFrame } from './profile-frame.tsx';

/** The page. */
export function AppearancePage() {
  const { t, i18n } = useTranslation();
  const { data, error, again } = useViewer();
  const chosen = useStore(theme);
  const single = useStore(singleKeys);
  const language = LANGUAGES.find((name) => name === i18n.language) ?? 'en';
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={again}>
      {() => (
        <>
          <Part title={t('profile.themeAndLanguage')}>
            <div className="flex flex-wrap gap-x-8 gap-y-5">
              <Labelled word={t('shell.theme')}>
                <Segmented
                  label={t('shell.theme')}
                  value={chosen}
                  onChange={setTheme}
                  options={THEMES.map((value) => ({ value, word: t(`shell.themes.${value}`) }))}
                />
              </Labelled>
              <Labelled word={t('shell.language')}>
                <Segmented
                  label={t('shell.language')}
                  value={language}
                  onChange={(next) => void setLanguage(next, true)}
                  options={LANGUAGES.map((value) => ({ value, word: LANGUAGE_NAMES[value] }))}
                />
              </Labelled>
            </div>
          </Part>
          <Part title={t('profile.keyboard')}>
            <Checkbox
              label={t('palette.single')}
              checked={single}
              onChange={(event) => {
                setSingleKeys(event.target.checked);
              }}
            />
          </Part>
        </>
      )}
    </ProfileFrame>
  );
}

// The label is hidden from screen readers, because the group of choices already has this name.
function Labelled({ word, children }: { word: string; children: ReactNode }) {
  return (
    <div className="flex flex-col items-start gap-2">
      <span className="text-table font-[550]" aria-hidden="true">
        {word}
      </span>
      {children}
    </div>
  );
}
