/** Compares the credentials of a configuration file with the stored ones. */
import { bindingOf, CLIENT_CERTIFICATE } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import { digestOf } from '@gateway/shared/secrets';
import { UserFailure } from '../graphql/errors.ts';
import { storedCertificate, storedSecret } from '../upstreams/access.rules.ts';
import type { CredentialStep, UpstreamStep } from './change.ts';
import type { ConfigurationDocument } from './document.ts';
import { DocumentError } from './shape.ts';
import { originOf } from './state.ts';
import type { CredentialItem, State, Stored, UpstreamItem } from './state.ts';

interface CredentialParts {
  document: ConfigurationDocument;
  upstreams: readonly UpstreamStep[];
  /** The secrets of the file by reference. */
  secrets: ReadonlyMap<string, string>;
}

/** A credential of the file. */
interface Given {
  label: string;
  secret?: string;
  certificate?: string;
}

/**
 * One step for every credential. Of credentials with one label, the n-th in the file is the n-th in the
 * database. Throws a DocumentError if a secret is missing: for a new credential, or for an upstream that
 * moves to another host or gets another kind of access, because a secret is used in one way only.
 */
export function planCredentials(state: State, parts: CredentialParts): CredentialStep[] {
  const { document, upstreams } = parts;
  const stored = Map.groupBy(state.credentials, ({ item }) => item.upstream);
  const places = new Map((document.upstreams ?? []).map((each, index) => [each.name, { ...each, index }]));
  return upstreams.flatMap((upstream) => {
    const { name, after } = upstream;
    const rows = stored.get(name) ?? [];
    if (!after) return rows.map((row) => stepOf(row, null));
    const entry = places.get(name);
    const at = `upstreams/${entry?.index ?? name}`;
    const given = entry?.credentials;
    const waiting = Map.groupBy(rows, ({ item }) => item.label);
    const named = (given ?? []).map((each, index) =>
      givenStep(
        {
          upstream: name,
          origin: originOf(after.baseUrl),
          access: after.access,
          found: waiting.get(each.label)?.shift(),
          given: each,
        },
        { at: `${at}/credentials/${index}`, secrets: parts.secrets },
      ),
    );
    const isPruned = given !== undefined && (document.prune ?? []).includes('credentials');
    const rest = [...waiting.values()].flat().map((row) => stepOf(row, isPruned ? null : keptOf(row)));
    const steps = [...named, ...rest];
    requireSecretsOfMove(upstream, steps, at);
    return steps;
  });
}

interface Pair {
  upstream: string;
  origin: string;
  access: UpstreamAccess | null;
  found: Stored<CredentialItem> | undefined;
  given: Given;
}

function givenStep(
  { upstream, origin, access, found, given }: Pair,
  { at, secrets }: { at: string; secrets: ReadonlyMap<string, string> },
): CredentialStep {
  const { label, secret: reference, certificate: pem } = given;
  if (reference === undefined) {
    if (pem !== undefined)
      throw new DocumentError(at, 'A certificate needs its private key as secret. Add secret.');
    if (found) return stepOf(found, keptOf(found));
    throw new DocumentError(at, 'This credential is new, so it needs secret: env:NAME or file:/path.');
  }
  const secret = secretOf(reference, secrets, at);
  const certificate = pem === undefined ? null : secretOf(pem, secrets, at);
  const stored = storedForm({ access, secret, certificate }, at);
  const item = { upstream, label, origin, digest: digestOf(stored.secret), binding: stored.binding };
  const isKept =
    found?.item.digest === item.digest && found.item.origin === origin && found.item.binding === item.binding;
  const after = { ...item, secret: isKept ? '' : secret, certificate };
  return {
    kind: 'credential',
    name: `${upstream}/${label}`,
    id: found?.id ?? null,
    before: found?.item ?? null,
    after,
  };
}

/** The secret of a reference. Throws a DocumentError if it was not given, or is empty. */
export function secretOf(reference: string, secrets: ReadonlyMap<string, string>, at: string): string {
  const secret = secrets.get(reference)?.trim();
  if (secret) return secret;
  throw new DocumentError(at, `The secret ${reference} is missing or empty. Set it where the command runs.`);
}

function stepOf(row: Stored<CredentialItem>, after: CredentialStep['after']): CredentialStep {
  const { id, item } = row;
  return { kind: 'credential', name: `${item.upstream}/${item.label}`, id, before: item, after };
}

/** A stored credential that stays as it is. */
function keptOf({ item }: Stored<CredentialItem>): CredentialStep['after'] {
  return { ...item, secret: '', certificate: null };
}

function requireSecretsOfMove(
  { name, before, after }: UpstreamStep,
  steps: readonly CredentialStep[],
  at: string,
): void {
  if (!before || !after) return;
  requireBindings({ name, before, after }, steps, at);
  const [from, to] = [originOf(before.baseUrl), originOf(after.baseUrl)];
  const left = from === to ? undefined : steps.find((step) => step.after?.origin === from);
  if (!left) return;
  throw new DocumentError(
    at,
    `${name} moves to ${to}, and the secret of ${left.name} is sent to ${from} only. ` +
      'Give the secret of each credential again, or remove the credential.',
  );
}

/** The form in which a secret is stored. Throws a DocumentError if it has the wrong form for the access. */
function storedForm(
  {
    access,
    secret,
    certificate,
  }: { access: UpstreamAccess | null; secret: string; certificate: string | null },
  at: string,
): { secret: string; binding: string | null } {
  try {
    return certificate === null ? storedSecret(access, secret) : storedCertificate(certificate, secret);
  } catch (error) {
    if (error instanceof UserFailure) throw new DocumentError(at, error.message);
    throw error;
  }
}

/** A secret is used only as it was meant when it was stored: another kind of access needs it again. */
function requireBindings(
  { name, before, after }: { name: string; before: UpstreamItem; after: UpstreamItem },
  steps: readonly CredentialStep[],
  at: string,
): void {
  const binding = bindingOf(after.access);
  if (bindingOf(before.access) === binding) return;
  const left = steps.find(
    (step) => step.after && step.after.binding !== binding && step.after.binding !== CLIENT_CERTIFICATE,
  );
  if (!left) return;
  throw new DocumentError(
    at,
    `The access of ${name} changes, and the secret of ${left.name} was stored for another use. ` +
      'Give the secret of each credential again, or remove the credential.',
  );
}
