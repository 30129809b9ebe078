/** Shows the user's address for a token of a blockchain, with a QR code. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { CopyIcon } from '../../components/copy.tsx';
import { moneyText } from '../../components/money.tsx';
import { QrPicture } from '../../components/qr-picture.tsx';
import { SelectField } from '../../components/select-field.tsx';
import type { ResultOf } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { FailureBanner } from '../task-dialog.tsx';
import { useSubmit } from '../use-submit.ts';
import { type AddressFields, MakeAddress, type PaymentOptions } from './payment-documents.ts';

type Token = PaymentOptions['crypto'][number];
type Address = ResultOf<typeof AddressFields>;

/** A token to choose, and then the address for it. */
export function DepositForm({ tokens }: { tokens: readonly Token[] }) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState(0);
  const [address, setAddress] = useState<Address>();
  const token = tokens[chosen];
  const { busy, failure, submit } = useAddress(token, setAddress);
  const options = tokens.map(({ asset, chainName }, at) => ({
    value: String(at),
    word: t('wallet.pay.tokenOn', { asset, chain: chainName }),
  }));
  const isShown = address && address.chainId === token?.chainId && address.asset === token.asset;
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
      {failure !== undefined && <FailureBanner words={failure} />}
      <SelectField
        label={t('wallet.pay.token')}
        value={String(chosen)}
        options={options}
        onChange={(event) => setChosen(Number(event.target.value))}
      />
      {isShown ? (
        <AddressCard address={address} />
      ) : (
        <Button type="submit" variant="primary" size="form" busy={busy}>
          {t('wallet.pay.showAddress')}
        </Button>
      )}
    </form>
  );
}

function AddressCard({ address }: { address: Address }) {
  const { t } = useTranslation();
  const { asset, chainName, minDeposit, requiredConfirmations } = address;
  return (
    <div className="flex flex-col gap-3" aria-live="polite">
      <QrPicture text={address.qrPayload} label={t('wallet.pay.qr', { asset, chain: chainName })} />
      <p className="font-mono text-table break-all">
        {address.address} <CopyIcon text={address.address} label={t('wallet.pay.copyAddress')} />
      </p>
      <p className="text-ink-2">{t('wallet.pay.only', { asset, chain: chainName })}</p>
      <p className="text-hint text-ink-3">
        {t('wallet.pay.terms', { amount: moneyText(minDeposit), count: requiredConfirmations })}
      </p>
    </div>
  );
}

function useAddress(token: Token | undefined, onAddress: (address: Address) => void) {
  const [, make] = useMutation(MakeAddress);
  return useSubmit({
    send: async () => {
      if (!token) return undefined;
      const { chainId, asset } = token;
      const { data, error } = await make({ input: { chainId, asset } });
      const address = data?.depositAddressCreate.address;
      if (address) onAddress(address);
      return { error, userErrors: data?.depositAddressCreate.userErrors };
    },
    onDone: () => undefined,
  });
}
