/** The fields of an upstream's form that say how it is reached: authentication, paths, headers, proxy. */
import { AUTH_KINDS, DEFAULT_ACCESS, REQUEST_STYLES } from '@gateway/shared/clouds/access';
import type { AuthKind, UpstreamAccess } from '@gateway/shared/clouds/access';
import { useState } from 'react';
import { Field } from '../../../components/field.tsx';
import { SelectField } from '../../../components/select-field.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { type Access, linesOf, parametersOf } from './access-form.ts';

const LINES = 2;

/** The fields. Those that a kind of authentication does not use are not shown. */
export function AccessFields({ access }: { access: Access | null }) {
  const { t } = useTranslation();
  const present = access ?? DEFAULT_ACCESS;
  const [auth, setAuth] = useState<AuthKind>(present.auth);
  return (
    <>
      <SelectField
        label={t('admin.upstreams.access.auth')}
        name="auth"
        value={auth}
        options={AUTH_KINDS.map((value) => ({ value, word: t(`admin.upstreams.access.kinds.${value}`) }))}
        onChange={({ target: { value } }) => {
          setAuth(AUTH_KINDS.find((kind) => kind === value) ?? 'API_KEY');
        }}
      />
      {parametersOf(auth).map((name) => (
        <Field
          key={name}
          label={t(`admin.upstreams.access.${name}`)}
          name={name}
          hint={HINTED.has(name) ? t('admin.upstreams.access.usual') : undefined}
          required={!HINTED.has(name)}
          defaultValue={present[name] ?? ''}
          autoComplete="off"
        />
      ))}
      <SelectField
        label={t('admin.upstreams.access.style')}
        name="style"
        defaultValue={present.style}
        options={REQUEST_STYLES.map((value) => ({
          value,
          word: t(`admin.upstreams.access.styles.${value}`),
        }))}
      />
      <Special access={present} />
    </>
  );
}

/** Parameters that have a default. */
const HINTED: ReadonlySet<string> = new Set(['scope', 'service', 'serviceAccount', 'tokenUrl']);

/** Fields that few upstreams need. They are folded unless one of them has a value. */
function Special({
  access,
}: {
  access: Pick<UpstreamAccess, 'pathTemplate' | 'headers' | 'query' | 'proxyUrl'>;
}) {
  const { t } = useTranslation();
  const { pathTemplate, headers, query, proxyUrl } = access;
  const isSet = pathTemplate !== null || proxyUrl !== null || headers.length + query.length > 0;
  return (
    <details open={isSet}>
      <summary className="cursor-pointer text-table font-[550]">{t('admin.upstreams.access.more')}</summary>
      <div className="mt-4 flex flex-col gap-5">
        <Field
          label={t('admin.upstreams.access.pathTemplate')}
          name="pathTemplate"
          hint={t('admin.upstreams.access.pathHint')}
          defaultValue={pathTemplate ?? ''}
          placeholder="/deployments/{model}{path}"
          autoComplete="off"
        />
        <TextField
          label={t('admin.upstreams.access.headers')}
          name="headers"
          rows={LINES}
          placeholder="name: value"
          defaultValue={linesOf(headers)}
        />
        <TextField
          label={t('admin.upstreams.access.query')}
          name="query"
          rows={LINES}
          placeholder="api-version: 2024-10-21"
          defaultValue={linesOf(query)}
        />
        <Field
          label={t('admin.upstreams.access.proxyUrl')}
          name="proxyUrl"
          type="url"
          hint={t('admin.upstreams.access.proxyHint')}
          defaultValue={proxyUrl ?? ''}
          placeholder="http://proxy.example:3128"
          autoComplete="off"
        />
      </div>
    </details>
  );
}
