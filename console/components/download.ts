/** Downloads of files that are created in the browser. */

/** Saves a text as a file with this name. The text does not leave the device. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  // The click resolves the address, so it can be revoked at once.
  link.click();
  URL.revokeObjectURL(address);
}
