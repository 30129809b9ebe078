/** The fields that a change modified, each with its old and new value. */
import { useTranslation } from '../../../translation.ts';

interface ChangedValuesProps {
  before: unknown;
  after: unknown;
}

/** A table of the fields that differ. */
export function ChangedValues({ before, after }: ChangedValuesProps) {
  const { t } = useTranslation();
  const [old, fresh] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].filter(
    (name) => textOf(old[name]) !== textOf(fresh[name]),
  );
  const words = (text: string | undefined) => text ?? t('state.none');
  return (
    <div className="mt-2 overflow-x-auto" tabIndex={0} role="group" aria-label={t('admin.audit.details')}>
      <table className="w-full text-left text-table">
        <thead>
          <tr className="border-b border-line text-hint text-ink-3">
            <th className="py-1 pr-4 font-medium">{t('admin.audit.field')}</th>
            <th className="py-1 pr-4 font-medium">{t('admin.audit.before')}</th>
            <th className="py-1 font-medium">{t('admin.audit.after')}</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name} className="border-b border-line align-top">
              <td className="py-1 pr-4">
                <code>{name}</code>
              </td>
              <td className="py-1 pr-4 break-all text-bad">
                <code>{words(textOf(old[name]))}</code>
              </td>
              <td className="py-1 break-all text-good">
                <code>{words(textOf(fresh[name]))}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  return typeof value === 'object' ? { ...value } : { value };
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
