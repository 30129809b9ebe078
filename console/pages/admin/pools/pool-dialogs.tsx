/** Dialogs with which administrators set a pool's cap, extend it, or cancel it. */
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { useTranslation } from '../../../translation.ts';
import { textIn } from '../../form-values.ts';
import { FormDialog } from '../form-dialog.tsx';
import { ChangePool } from './documents.ts';
import type { PoolTask } from './pool-menu.tsx';

const RPM_CAP_MAX = 100_000;
const EXTEND_DAYS_MAX = 365;

interface PoolDialogsProps {
  task: PoolTask;
  onClose: () => void;
}

/** The dialog of one task; it states the effect. */
export function PoolDialogs({ task: { kind, pool }, onClose }: PoolDialogsProps) {
  const { t } = useTranslation();
  const [, change] = useMutation(ChangePool);
  const changeIn = (values: FormData) => {
    if (kind === 'cap') return { rpmCap: Number(textIn(values, 'cap')) };
    return kind === 'extend' ? { extendDays: Number(textIn(values, 'days')) } : { cancel: true };
  };
  const count = pool.allKeys.totalCount;
  const hasNoKeys = kind === 'cancel' && count === 0;
  return (
    <FormDialog
      title={t(`storefront.${kind}Title`, { name: pool.name })}
      sentence={hasNoKeys ? t('storefront.cancelNoKeys') : t(`storefront.${kind}Sentence`, { count })}
      button={t(`storefront.${kind}Button`)}
      destructive={kind === 'cancel'}
      {...(kind === 'cancel' && { dismiss: t('storefront.keep') })}
      onClose={onClose}
      send={async (values, reason) => {
        const input = { id: pool.id, version: pool.version, ...changeIn(values), reason };
        const { data, error } = await change({ input });
        return { error, userErrors: data?.adminPoolUpdate.userErrors };
      }}
    >
      {kind === 'cap' && (
        <Field
          label={t('storefront.rpmCap')}
          name="cap"
          type="number"
          required
          min={1}
          max={RPM_CAP_MAX}
          defaultValue={pool.rpmCap}
        />
      )}
      {kind === 'extend' && (
        <Field
          label={t('storefront.days')}
          name="days"
          type="number"
          required
          min={1}
          max={EXTEND_DAYS_MAX}
          defaultValue={1}
        />
      )}
    </FormDialog>
  );
}
