/** The purchase form of a pool: models, subdomain, name, and the quote beside them. */
import { useState } from 'react';
import { Checkbox, Field } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import type { Storefront } from './storefront-documents.ts';
import { ModelPicks } from './model-picks.tsx';
import { ClosedStorefront, QuotePanel } from './quote-panel.tsx';
import { StepHead } from './step-head.tsx';
import { SubdomainField } from './subdomain-field.tsx';
import { type PurchaseErrors, usePurchase } from './use-purchase.ts';
import { useQuote } from './use-quote.ts';

const NAME_CHARACTERS_MAX = 80;

interface BuyPoolProps {
  storefront: Storefront;
  baseHost: string;
  /** Names of picked models, from the address; models that are not on offer are ignored. */
  picked: readonly string[];
  onPick: (names: string[]) => void;
  /** Called when the service refused the purchase, to reload the storefront. */
  onRefused: () => void;
}

/** The form. Input stays if the storefront closes meanwhile; without any, a closed storefront has no form. */
export function BuyPool({ storefront, baseHost, picked, onPick, onRefused }: BuyPoolProps) {
  const { t } = useTranslation();
  const [subdomain, setSubdomain] = useState('');
  const [name, setName] = useState('');
  const [autoRenew, setAutoRenew] = useState(false);
  const { chosen, modelIds } = offeredOf(storefront, picked);
  const open = storefront.state === 'OPEN';
  const quoteState = useQuote(open && chosen.length > 0 ? { modelIds } : undefined);
  const purchase = usePurchase({ quoteState, onRefused });
  const order = { subdomain, name: name.trim(), autoRenew, count: chosen.length };
  if (!open && chosen.length === 0 && subdomain === '' && name === '') return <ClosedStorefront />;
  return (
    <form
      aria-label={t('purchase.buyTitle')}
      noValidate
      className="grid grid-cols-[minmax(0,1fr)_352px] gap-x-10 gap-y-8 max-xl:grid-cols-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (open) void purchase.send(order);
      }}
    >
      <fieldset disabled={!open} className="flex min-w-0 flex-col gap-8">
        <legend className="sr-only">{t('purchase.buyTitle')}</legend>
        <ModelPicks {...{ storefront, onPick }} picked={chosen} error={purchase.errors.models} />
        <Names
          {...{ subdomain, name, baseHost }}
          errors={purchase.errors}
          onSubdomain={(value) => {
            purchase.clearErrors();
            setSubdomain(value);
          }}
          onName={setName}
        />
        <Checkbox
          label={t('pools.autoRenew')}
          hint={t('pools.autoRenewHint')}
          checked={autoRenew}
          onChange={(event) => setAutoRenew(event.target.checked)}
        />
        <Agreement storefront={storefront} />
      </fieldset>
      <QuotePanel
        {...{ storefront, quoteState }}
        wanted={chosen.length > 0}
        refused={purchase.refused}
        busy={purchase.busy}
      />
    </form>
  );
}

/** The picked models that are on offer, in the order of picking, and their ids. */
function offeredOf({ offeredModels }: Storefront, picked: readonly string[]) {
  const offered = new Map(offeredModels.map((model) => [model.name, model.id]));
  const chosen = picked.filter((model) => offered.has(model));
  return { chosen, modelIds: chosen.map((model) => offered.get(model) ?? '') };
}

interface NamesProps {
  subdomain: string;
  onSubdomain: (value: string) => void;
  name: string;
  onName: (value: string) => void;
  baseHost: string;
  errors: PurchaseErrors;
}

function Names({ subdomain, onSubdomain, name, onName, baseHost, errors }: NamesProps) {
  const { t } = useTranslation();
  return (
    <div>
      <StepHead number={2} word={t('pools.address')} />
      <div className="grid grid-cols-2 gap-x-8 gap-y-5 max-sm:grid-cols-1">
        <SubdomainField
          value={subdomain}
          onChange={onSubdomain}
          baseHost={baseHost}
          error={errors.subdomain}
        />
        <Field
          label={t('pools.name')}
          id="pool-name"
          value={name}
          maxLength={NAME_CHARACTERS_MAX}
          autoComplete="off"
          hint={t('purchase.nameHint')}
          error={errors.name}
          onChange={(event) => onName(event.target.value)}
        />
      </div>
    </div>
  );
}

const TERMS = 'grid list-disc grid-cols-2 gap-x-8 gap-y-1.5 pl-5 text-table text-ink-2 max-sm:grid-cols-1';

function Agreement({ storefront: { rpmCap, periodDays, poolRequestsFree } }: { storefront: Storefront }) {
  const { t } = useTranslation();
  const lines = [
    t('purchase.agree.cap', { count: rpmCap }),
    t('purchase.agree.over'),
    t(poolRequestsFree ? 'purchase.agree.free' : 'purchase.agree.charged'),
    t('purchase.agree.keys'),
    t('purchase.agree.early', { count: periodDays }),
    t('purchase.agree.end'),
  ];
  return (
    <div>
      <h3 className="mb-2 font-semibold">{t('purchase.agree.title')}</h3>
      <ul className={TERMS}>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}
