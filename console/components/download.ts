/** Downloads of files that are created in the browser. */

/** Lets the browser save a text as a file with this name. The text is sent to no server. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  // `click` has taken the content when it returns, so that the address is no longer needed.
  link.click();
  URL.revokeObjectURL(address);
}
