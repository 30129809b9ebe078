/** Dialogs of blockchains, their tokens, and extended public keys. */
import { useMutation } from 'urql';
import { Checkbox, Field } from '../../../components/field.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import {
  type Chain,
  type ChainTask,
  ResumeChain,
  SetChain,
  SetDepositKey,
  SetToken,
  type Token,
} from './chain-documents.ts';
import { AmountField, SecretField } from './fields.tsx';
import { worded } from './refusal-words.ts';

const CONFIRMATIONS_MAX = 1_000;
const NAME_CHARACTERS_MAX = 40;
const CONTRACT = '0x[0-9a-fA-F]{40}';

interface CloseProps {
  onClose: () => void;
}

/** The dialog of the task. */
export function ChainDialogs({ task, onClose }: CloseProps & { task: ChainTask }) {
  switch (task.kind) {
    case 'chain':
      return <EditChain chain={task.chain} onClose={onClose} />;
    case 'resume':
      return <Resume chain={task.chain} onClose={onClose} />;
    case 'token':
      return <EditToken chain={task.chain} token={task.token} onClose={onClose} />;
    case 'key':
      return <SetKey onClose={onClose} />;
  }
}

function EditChain({ chain, onClose }: CloseProps & { chain: Chain | undefined }) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetChain);
  const send = async (values: FormData, reason: string) => {
    const rpcAddresses = ['rpc1', 'rpc2'].map((name) => text(values, name));
    const startBlock = text(values, 'startBlock');
    const input = {
      chainId: chain?.chainId ?? Number(text(values, 'chainId')),
      name: text(values, 'name'),
      confirmations: Number(text(values, 'confirmations')),
      needsFinality: values.has('finality'),
      explorerUrl: text(values, 'explorer') || null,
      enabled: values.has('enabled'),
      ...(rpcAddresses.some(Boolean) && { rpcAddresses }),
      ...(startBlock !== '' && { startBlock: Number(startBlock) }),
      reason,
    };
    const { data, error } = await set({ input });
    return { error, userErrors: data?.adminChainSet.userErrors };
  };
  return (
    <FormDialog
      title={chain ? t('admin.editTitle', { name: chain.name }) : t('payments.chains.add')}
      sentence={t('payments.chains.editSentence')}
      button={t(chain ? 'admin.save' : 'payments.chains.add')}
      wide
      onClose={onClose}
      send={send}
    >
      <div className="grid grid-cols-2 gap-x-4 gap-y-5 max-sm:grid-cols-1">
        <Identity chain={chain} />
        <Services chain={chain} />
        <Explorer chain={chain} />
      </div>
      <div className="flex flex-col gap-2">
        <Checkbox
          name="finality"
          label={t('payments.chains.finalityLabel')}
          defaultChecked={chain?.needsFinality ?? true}
        />
        <Checkbox name="enabled" label={t('payments.chains.watch')} defaultChecked={chain?.enabled ?? true} />
      </div>
    </FormDialog>
  );
}

interface ChainProps {
  chain: Chain | undefined;
}

function Identity({ chain }: ChainProps) {
  const { t } = useTranslation();
  return (
    <>
      <Field
        label={t('admin.name')}
        name="name"
        required
        maxLength={NAME_CHARACTERS_MAX}
        defaultValue={chain?.name}
        autoComplete="off"
      />
      {!chain && <Field label={t('payments.chains.chainId')} name="chainId" type="number" required min={1} />}
      <Field
        label={t('payments.chains.confirmations')}
        name="confirmations"
        type="number"
        required
        min={1}
        max={CONFIRMATIONS_MAX}
        defaultValue={chain?.confirmations}
      />
      {!chain && (
        <Field
          label={t('payments.chains.startBlock')}
          name="startBlock"
          type="number"
          min={0}
          hint={t('payments.chains.startBlockHint')}
        />
      )}
    </>
  );
}

/** The addresses of the RPC services may hold a key, so they are entered like secrets. */
function Services({ chain }: ChainProps) {
  const { t } = useTranslation();
  const hint = chain
    ? t('payments.chains.rpcKeep', { hosts: chain.rpcHosts.join(', ') })
    : t('payments.chains.rpcHint');
  return (
    <>
      <SecretField label={t('payments.chains.rpcFirst')} name="rpc1" required={!chain} hint={hint} />
      <SecretField label={t('payments.chains.rpcSecond')} name="rpc2" required={!chain} />
    </>
  );
}

function Explorer({ chain }: ChainProps) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('payments.chains.explorer')}
      name="explorer"
      type="url"
      defaultValue={chain?.explorerUrl ?? ''}
      hint={t('payments.chains.explorerHint')}
      autoComplete="off"
    />
  );
}

function Resume({ chain, onClose }: CloseProps & { chain: Chain }) {
  const { t } = useTranslation();
  const [, resume] = useMutation(ResumeChain);
  return (
    <FormDialog
      title={t('payments.chains.resumeTitle', { name: chain.name })}
      sentence={t('payments.chains.resumeSentence', { count: chain.confirmations })}
      button={t('payments.chains.resumeButton')}
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await resume({ input: { chainId: chain.chainId, reason } });
        return { error, userErrors: data?.adminChainResume.userErrors };
      }}
    />
  );
}

function EditToken({ chain, token, onClose }: CloseProps & { chain: Chain; token: Token | undefined }) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetToken);
  const { chainId, name } = chain;
  const send = async (values: FormData, reason: string) => {
    const input = {
      chainId,
      contract: token?.contract ?? text(values, 'contract'),
      symbol: text(values, 'symbol'),
      minimum: text(values, 'minimum'),
      enabled: values.has('enabled'),
      reason,
    };
    const { data, error } = await set({ input });
    const words = { CONFLICT: t('payments.chains.sameSymbol') };
    return { error, userErrors: worded(data?.adminChainTokenSet.userErrors, words) };
  };
  return (
    <FormDialog
      title={
        token
          ? t('admin.editTitle', {
              name: t('payments.chains.tokenName', { asset: token.symbol, chain: name }),
            })
          : t('payments.chains.addTokenTitle', { name })
      }
      sentence={t('payments.chains.tokenSentence')}
      button={t(token ? 'admin.save' : 'payments.chains.addToken')}
      onClose={onClose}
      send={send}
    >
      <TokenFields token={token} />
    </FormDialog>
  );
}

function TokenFields({ token }: { token: Token | undefined }) {
  const { t } = useTranslation();
  return (
    <>
      {!token && (
        <Field
          label={t('payments.chains.contract')}
          name="contract"
          required
          pattern={CONTRACT}
          placeholder="0x…"
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <Field
        label={t('payments.chains.symbol')}
        name="symbol"
        required
        pattern="[A-Za-z][A-Za-z0-9.]{1,11}"
        defaultValue={token?.symbol ?? 'USDC'}
        autoComplete="off"
        spellCheck={false}
      />
      <AmountField
        label={t('payments.chains.minimum')}
        name="minimum"
        pattern="[0-9]+([.][0-9]{1,6})?"
        defaultValue={token?.minimum ?? '1'}
        hint={t('payments.chains.minimumHint')}
      />
      <Checkbox name="enabled" label={t('payments.chains.tokenOn')} defaultChecked={token?.enabled ?? true} />
    </>
  );
}

function SetKey({ onClose }: CloseProps) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetDepositKey);
  return (
    <FormDialog
      title={t('payments.chains.setKey')}
      sentence={t('payments.chains.setKeySentence')}
      button={t('payments.chains.setKey')}
      onClose={onClose}
      send={async (values, reason) => {
        const { data, error } = await set({ input: { extendedKey: text(values, 'key'), reason } });
        return { error, userErrors: data?.adminDepositKeySet.userErrors };
      }}
    >
      <div className="flex flex-col gap-2">
        <TextField
          label={t('payments.chains.extendedKey')}
          name="key"
          required
          data-focus-first
          rows={4}
          autoComplete="off"
          spellCheck={false}
          placeholder="xpub…"
        />
        <p className="text-hint text-ink-3">{t('payments.chains.extendedKeyHint')}</p>
      </div>
    </FormDialog>
  );
}
