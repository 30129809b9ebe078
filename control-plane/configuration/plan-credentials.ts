/** Compares the credentials of a configuration file with the stored ones. */
import { digestOf } from '@gateway/shared/secrets';
import type { CredentialStep, UpstreamStep } from './change.ts';
import type { ConfigurationDocument } from './document.ts';
import { DocumentError } from './shape.ts';
import { originOf } from './state.ts';
import type { CredentialItem, State, Stored } from './state.ts';

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
}

/**
 * One step for every credential. Of credentials with one label, the n-th in the file is the n-th in the
 * database. Throws a DocumentError if a secret is missing: for a new credential, or for an upstream that
 * moves to another host, because a secret is sent to one host only.
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
  found: Stored<CredentialItem> | undefined;
  given: Given;
}

function givenStep(
  { upstream, origin, found, given }: Pair,
  { at, secrets }: { at: string; secrets: ReadonlyMap<string, string> },
): CredentialStep {
  const { label, secret: reference } = given;
  if (reference === undefined) {
    if (found) return stepOf(found, keptOf(found));
    throw new DocumentError(at, 'This credential is new, so it needs secret: env:NAME or file:/path.');
  }
  if (found?.item.isBound)
    throw new DocumentError(at, 'Credentials of clouds are entered in the console. Remove secret here.');
  const secret = secretOf(reference, secrets, at);
  const item = { upstream, label, origin, digest: digestOf(secret), isBound: false };
  const isKept = found?.item.digest === item.digest && found.item.origin === origin;
  const after = { ...item, secret: isKept ? '' : secret };
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
  return { ...item, secret: '' };
}

function requireSecretsOfMove(
  { name, before, after }: UpstreamStep,
  steps: readonly CredentialStep[],
  at: string,
): void {
  if (!before || !after) return;
  const [from, to] = [originOf(before.baseUrl), originOf(after.baseUrl)];
  const left = from === to ? undefined : steps.find((step) => step.after?.origin === from);
  if (!left) return;
  throw new DocumentError(
    at,
    `${name} moves to ${to}, and the secret of ${left.name} is sent to ${from} only. ` +
      'Give the secret of each credential again, or remove the credential.',
  );
}
