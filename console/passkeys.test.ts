/** Tests how answers and refusals of the browser's passkey API are translated. */
import { afterEach, expect, it, vi } from 'vitest';
import { askPasskey, createPasskey } from './passkeys.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

class Given {
  static parseCreationOptionsFromJSON = (options: unknown) => options;
  static parseRequestOptionsFromJSON = (options: unknown) => options;
  toJSON = () => ({ id: 'made' });
}

/** A browser that gives this answer to every call. */
function browserThat(answer: () => Promise<unknown>): void {
  vi.stubGlobal('PublicKeyCredential', Given);
  vi.stubGlobal('navigator', { credentials: { create: answer, get: answer } });
}

it('a passkey becomes the JSON that the service accepts', async () => {
  browserThat(async () => new Given());
  expect(await createPasskey({})).toEqual({ kind: 'created', credential: { id: 'made' } });
  expect(await askPasskey({})).toEqual({ id: 'made' });
});

it.each(['NotAllowedError', 'AbortError', 'SecurityError', 'OperationError', 'NotSupportedError'])(
  '%s of the browser counts as declined, and no form waits forever',
  async (name) => {
    browserThat(() => Promise.reject(new DOMException('No.', name)));
    expect(await createPasskey({})).toEqual({ kind: 'declined' });
    expect(await askPasskey({})).toBeUndefined();
  },
);

it('a device that already holds a passkey of this account is reported as such', async () => {
  browserThat(() => Promise.reject(new DOMException('It is there.', 'InvalidStateError')));
  expect(await createPasskey({})).toEqual({ kind: 'exists' });
});
