/** Reads how an upstream is reached from the form, and writes it into the form. */
import { AUTH_KINDS, AUTH_PARAMETERS, REQUEST_STYLES } from '@gateway/shared/clouds/access';
import type { AuthKind, AuthParameters } from '@gateway/shared/clouds/access';
import { text, words } from '../form-dialog.tsx';
import type { Provider } from './documents.ts';

export type Access = NonNullable<Provider['access']>;
export type ParameterName = keyof AuthParameters;

/** The parameters of a kind, those that it needs first. */
export function parametersOf(auth: AuthKind): readonly ParameterName[] {
  const { required, optional } = AUTH_PARAMETERS[auth];
  return [...required, ...optional];
}

/** The access that the form holds. Lines without a colon have an empty value, which the service refuses. */
export function accessIn(values: FormData) {
  const [auth = 'API_KEY'] = words(values, 'auth', AUTH_KINDS);
  const [style = 'STANDARD'] = words(values, 'style', REQUEST_STYLES);
  const parameters = parametersOf(auth).map((name) => [name, text(values, name) || null]);
  return {
    auth,
    style,
    ...(Object.fromEntries(parameters) as Partial<AuthParameters>),
    pathTemplate: text(values, 'pathTemplate') || null,
    headers: pairsIn(text(values, 'headers')),
    query: pairsIn(text(values, 'query')),
    proxyUrl: text(values, 'proxyUrl') || null,
  };
}

/** One `name: value` per line. */
export function linesOf(pairs: readonly { name: string; value: string }[]): string {
  return pairs.map(({ name, value }) => `${name}: ${value}`).join('\n');
}

function pairsIn(lines: string): { name: string; value: string }[] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split(':');
      return { name: name.trim(), value: rest.join(':').trim() };
    });
}
