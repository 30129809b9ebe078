/** The actions on a webhook. Deleting it and replacing its secret ask first. */
import { CircleCheck, CircleMinus, Ellipsis, List, Pencil, RefreshCw, Send, Trash2 } from 'lucide-react';
import { useMutation } from 'urql';
import { IconButton } from '../../components/button.tsx';
import { Menu } from '../../components/menu.tsx';
import { type MenuEntry, RULE } from '../../components/menu-entries.ts';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { type Endpoint, TestWebhook, UpdateWebhook } from './documents.ts';
import type { WebhookDialogOpen } from './webhook-dialogs.tsx';

interface EndpointMenuProps {
  endpoint: Endpoint;
  onOpen: (open: WebhookDialogOpen) => void;
  onShow: (id: string) => void;
  onChanged: () => void;
}

/** The ⋯ menu of a webhook. */
export function EndpointMenu({ endpoint, onOpen, onShow, onChanged }: EndpointMenuProps) {
  const { t } = useTranslation();
  const { send, turn } = useEndpointActs(endpoint, onChanged);
  const isOn = endpoint.state === 'ENABLED';
  const ask = (kind: 'edit' | 'rotate' | 'delete') => () => onOpen({ kind, endpoint });
  const test: MenuEntry = { kind: 'action', icon: Send, word: t('webhooks.test'), run: send };
  const show = () => onShow(endpoint.id);
  const entries: MenuEntry[] = [
    { kind: 'action', icon: List, word: t('webhooks.deliveries'), run: show },
    ...(isOn ? [test] : []),
    { kind: 'action', icon: Pencil, word: t('webhooks.editTask'), run: ask('edit') },
    { kind: 'action', icon: RefreshCw, word: t('webhooks.rotateTask'), run: ask('rotate') },
    {
      kind: 'action',
      icon: isOn ? CircleMinus : CircleCheck,
      word: isOn ? t('webhooks.disable') : t('webhooks.enable'),
      run: turn,
    },
    RULE,
    { kind: 'action', icon: Trash2, destructive: true, word: t('webhooks.deleteTask'), run: ask('delete') },
  ];
  const trigger = (
    <IconButton label={t('webhooks.menu', { url: endpoint.url })}>
      <Ellipsis size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return <Menu trigger={trigger} entries={entries} />;
}

/** Sends a test event, and enables or disables the webhook. A failure is shown as a toast. */
function useEndpointActs({ id, state, version }: Endpoint, onChanged: () => void) {
  const { t } = useTranslation();
  const toast = useToast();
  const failureWords = useFailureWords();
  const [, test] = useMutation(TestWebhook);
  const [, update] = useMutation(UpdateWebhook);
  const send = async () => {
    const { data, error } = await test({ input: { id } });
    toast({ text: failureWords(error, data?.webhookEndpointTest.userErrors) ?? t('webhooks.testSent') });
  };
  const turn = async () => {
    const { data, error } = await update({ input: { id, version, enabled: state !== 'ENABLED' } });
    const words = failureWords(error, data?.webhookEndpointUpdate.userErrors);
    if (words !== undefined) toast({ text: words });
    onChanged();
  };
  return { send: () => void send(), turn: () => void turn() };
}
