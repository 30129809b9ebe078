/** Compares the payment settings of a configuration file with the stored ones. */
import { digestOf } from '@gateway/shared/secrets';
import type { PaymentsStep } from './change.ts';
import type { ConfigurationDocument } from './document.ts';
import { secretOf } from './plan-credentials.ts';
import type { State } from './state.ts';

/** The change of the settings; an empty list if the file has none. Throws a DocumentError without the key. */
export function planPayments(
  { payments: before }: State,
  { document, secrets }: { document: ConfigurationDocument; secrets: ReadonlyMap<string, string> },
): PaymentsStep[] {
  if (!document.payments) return [];
  const { apiKey: reference, ...given } = document.payments;
  const secret = reference === undefined ? null : secretOf(reference, secrets, 'payments/apiKey');
  const keyDigest = secret === null ? before.keyDigest : digestOf(secret);
  // A key is bound to its address: a new address needs the key again, even if the key is the same.
  const isNew =
    keyDigest !== before.keyDigest || (given.apiAddress ?? before.apiAddress) !== before.apiAddress;
  const after = { ...before, ...given, keyDigest, apiKey: isNew ? secret : null };
  return [{ kind: 'payments', name: '', id: null, before, after }];
}
