/** What a start prints when everything serves: the few lines a newcomer needs. */
import type { BootstrapResult } from './messages.ts';

export interface Addresses {
  consoleUrl: string;
  publicUrl: string;
  logs: string;
}

/** The lines; the curl command stands alone on its line, so that it can be taken whole. */
export function announce({ consoleUrl, publicUrl, logs }: Addresses, bootstrap: BootstrapResult): string {
  const lines = [
    '',
    'The gateway runs.',
    '',
    `  Console        ${consoleUrl}`,
    `  Base address   ${publicUrl}`,
  ];
  if (bootstrap.claimUrl)
    lines.push(
      `  First sign-in  ${bootstrap.claimUrl}`,
      '                 (works once, for 24 hours: it makes you the administrator)',
    );
  if (bootstrap.demo && bootstrap.demoKey) {
    lines.push(
      '',
      'No upstream is configured yet, so a demo answers with simulated replies. Try it:',
      '',
      curlLine(publicUrl, bootstrap.demoKey),
    );
  }
  return [...lines, '', `Logs: ${logs}   Stop: Ctrl-C`].join('\n');
}

/** A streamed chat completion, ready to be pasted into a shell. */
export function curlLine(publicUrl: string, key: string): string {
  const body = '{"model":"swift","stream":true,"messages":[{"role":"user","content":"Hello!"}]}';
  const headers = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  return `curl -N ${publicUrl}/v1/chat/completions ${headers} -d '${body}'`;
}
