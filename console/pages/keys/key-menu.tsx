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

interface KeyMenuProps {
  apiKey: Key;
  open: (dialog: KeyDialog) => void;
}

/** The ⋯ menu of a key. */
export function KeyMenu({ apiKey, open }: KeyMenuProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const ask = (kind: 'ready' | 'leaked' | 'rotate') => () => open({ kind, key: apiKey });
  const final = apiKey.disabledReason === 'LEAKED' || apiKey.disabledReason === 'REVOKED';
  const trigger = (
    <IconButton label={t('keys.menu', { name: apiKey.name })}>
      <Ellipsis size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return (
    <Menu trigger={trigger}>
      {canReveal(apiKey) && <MenuItem icon={Eye} word={t('keys.reveal')} onSelect={ask('ready')} />}
      <MenuItem
        icon={ChartColumn}
        word={t('keys.seeUsage')}
        onSelect={() => void navigate({ to: '/usage', search: { key: apiKey.id } })}
      />
      <SwitchItems apiKey={apiKey} onRotate={ask('rotate')} />
      {!final && apiKey.revealedAt !== null && (
        <>
          <MenuRule />
          <MenuItem icon={ShieldAlert} destructive word={t('keys.leaked')} onSelect={ask('leaked')} />
        </>
      )}
    </Menu>
  );
}

function SwitchItems({ apiKey, onRotate }: { apiKey: Key; onRotate: () => void }) {
  const { t } = useTranslation();
  const { disable, enable } = useKeySwitch();
  const enabled = apiKey.state === 'ENABLED';
  if (!enabled && !canEnable(apiKey)) return null;
  return (
    <>
      <MenuRule />
      {canRotate(apiKey) && <MenuItem icon={RefreshCw} word={t('keys.rotate')} onSelect={onRotate} />}
      {enabled ? (
        <MenuItem
          icon={CircleMinus}
          word={t('keys.disable')}
          effect={t('keys.disableEffect')}
          onSelect={() => void disable(apiKey)}
        />
      ) : (
        <MenuItem icon={CircleCheck} word={t('keys.enable')} onSelect={() => void enable(apiKey)} />
      )}
    </>
  );
}
