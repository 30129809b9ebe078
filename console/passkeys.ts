/** Passkeys in this browser: what the service asks goes to the authenticator, its answer comes as JSON. */

/** Whether this browser has what passkeys need. */
export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'
  );
}

/** What became of making one: it may be declined, and a device holds one for each account. */
export type Made = { kind: 'made'; credential: unknown } | { kind: 'declined' } | { kind: 'there-already' };

/** Makes a passkey. */
export async function makePasskey(options: unknown): Promise<Made> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  try {
    const credential = await jsonOf(navigator.credentials.create({ publicKey }));
    return credential === undefined ? { kind: 'declined' } : { kind: 'made', credential };
  } catch (error) {
    if (isThereAlready(error)) return { kind: 'there-already' };
    throw error;
  }
}

interface Asking {
  /** As autofill of the email field, without a dialog of its own. */
  quiet?: boolean;
  signal?: AbortSignal;
}

/** Asks for a passkey of this site; undefined when the person, or the browser, declined. */
export async function askPasskey(options: unknown, { quiet = false, signal }: Asking = {}): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  const asked = navigator.credentials.get({
    publicKey,
    ...(quiet && { mediation: 'conditional' }),
    ...(signal && { signal }),
  });
  return jsonOf(asked);
}

/** Whether the email field may offer passkeys. */
export async function offersAutofill(): Promise<boolean> {
  return hasPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable());
}

// Declining throws NotAllowedError, leaving the page AbortError, and a browser that will not ask has more
// names for it: none of them is a failure to tell of.
async function jsonOf(asked: Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await asked;
    return credential instanceof PublicKeyCredential ? credential.toJSON() : undefined;
  } catch (error) {
    if (error instanceof DOMException && !isThereAlready(error)) return undefined;
    throw error;
  }
}

function isThereAlready(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'InvalidStateError';
}
