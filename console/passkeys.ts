/** Creates and requests passkeys in this browser. Passes JSON between the service and the authenticator. */

/** Whether this browser supports passkeys, including their JSON form. */
export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'
  );
}

/** Result of creating a passkey. A device holds at most one passkey per account. */
export type CreatedPasskey =
  | { kind: 'created'; credential: unknown }
  | { kind: 'declined' }
  | { kind: 'exists' };

/** Asks the user to create a passkey. `options` is the JSON that the service sent. */
export async function createPasskey(options: unknown): Promise<CreatedPasskey> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  try {
    const credential = await jsonOf(navigator.credentials.create({ publicKey }));
    return credential === undefined ? { kind: 'declined' } : { kind: 'created', credential };
  } catch (error) {
    if (isExisting(error)) return { kind: 'exists' };
    throw error;
  }
}

interface RequestOptions {
  /** Offers passkeys as autofill of the email field instead of opening a dialog. */
  quiet?: boolean;
  signal?: AbortSignal;
}

/** Requests a passkey of this site; undefined if the user or the browser declined. */
export async function askPasskey(
  options: unknown,
  { quiet = false, signal }: RequestOptions = {},
): Promise<unknown> {
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

// Declining throws NotAllowedError, leaving the page AbortError, and browsers have more names for refusing to
// ask. None of these is a failure that the user needs to see.
async function jsonOf(asked: Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await asked;
    return credential instanceof PublicKeyCredential ? credential.toJSON() : undefined;
  } catch (error) {
    if (error instanceof DOMException && !isExisting(error)) return undefined;
    throw error;
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'InvalidStateError';
}
