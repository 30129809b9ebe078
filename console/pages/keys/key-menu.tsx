/** What can be done with one key. Disabling is one click with an undo; what cannot be undone asks first. */
import { useNavigate } from '@tanstack/react-router';
import { ChartColumn, CircleCheck, CircleMinus, Ellipsis, Eye, RefreshCw, ShieldAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/button.tsx';
import { Menu, MenuItem, MenuRule } from '../../components/menu.tsx';
import type { Key } from './documents.ts';
import { canEnable, canReveal, canRotate } from './key-state.ts';
import type { KeyDialog } from './keys-page.tsx';
import { useKeySwitch } from './use-key-switch.ts';

/** The ⋯ menu of a key. */
export function KeyMenu({ apiKey, open }: { apiKey: Key; open: (dialog: KeyDialog) => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { disable, enable } = useKeySwitch();
  const enabled = apiKey.state === 'ENABLED';
  const final = apiKey.disabledReason === 'LEAKED' || apiKey.disabledReason === 'REVOKED';
  return (
    <Menu
      trigger={
        <IconButton label={t('keys.menu', { name: apiKey.name })}>
          <Ellipsis size={16} strokeWidth={1.75} />
        </IconButton>
      }>
      {canReveal(apiKey) && (
        <MenuItem
          icon={Eye}
          word={t('keys.reveal')}
          onSelect={() => {
            open({ kind: 'ready', key: apiKey });
          }}
        />
      )}
      <MenuItem
        icon={ChartColumn}
        word={t('keys.seeUsage')}
        onSelect={() => void navigate({ to: '/usage', search: { key: apiKey.id } })}
      />
      {(enabled || canEnable(apiKey)) && <MenuRule />}
      {canRotate(apiKey) && (
        <MenuItem
          icon={RefreshCw}
          word={t('keys.rotate')}
          onSelect={() => {
            open({ kind: 'rotate', key: apiKey });
          }}
        />
      )}
      {enabled && (
        <MenuItem
          icon={CircleMinus}
          word={t('keys.disable')}
          effect={t('keys.disableEffect')}
          onSelect={() => void disable(apiKey)}
        />
      )}
      {canEnable(apiKey) && (
        <MenuItem icon={CircleCheck} word={t('keys.enable')} onSelect={() => void enable(apiKey)} />
      )}
      {!final && apiKey.revealedAt !== null && (
        <>
          <MenuRule />
          <MenuItem
            icon={ShieldAlert}
            destructive
            word={t('keys.leaked')}
            onSelect={() => {
              open({ kind: 'leaked', key: apiKey });
            }}
          />
        </>
      )}
    </Menu>
  );
}
