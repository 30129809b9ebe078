/** The text that `npm start` prints when the gateway is ready. */
import type { BootstrapResult } from './messages.ts';

interface Addresses {
  consoleUrl: string;
  publicUrl: string;
  /** Folder of the log files. */
  logs: string;
}

/** The text: addresses, first sign-in and, with the demo, a curl command alone on its line. */
export function announce({ consoleUrl, publicUrl, logs }: Addresses, bootstrap: BootstrapResult): string {
  const lines = [
    '',
    'The gateway is running.',
    '',
    `  Console        ${consoleUrl}`,
    `  Base address   ${publicUrl}`,
  ];
  if (bootstrap.claimUrl)
    lines.push(
      `  First sign-in  ${bootstrap.claimUrl}`,
      '                 (valid once, for 24 hours; makes you the administrator)',
    );
  if (bootstrap.demo && bootstrap.demoKey) {
    lines.push(
      '',
      'No upstream is configured yet, so a demo upstream answers with simulated replies. Try it:',
      '',
      curlLine(publicUrl, bootstrap.demoKey),
    );
  }
  if (bootstrap.playMoney)
    lines.push('', `Credit can be added with play money on ${consoleUrl}/wallet: no card is charged.`);
  return [...lines, '', `Logs: ${logs}   Stop: Ctrl-C`].join('\n');
}

/** A shell command for a streamed chat completion. */
function curlLine(publicUrl: string, key: string): string {
  const body = '{"model":"swift","stream":true,"messages":[{"role":"user","content":"Hello!"}]}';
  const headers = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`;
  return `curl -N ${publicUrl}/v1/chat/completions ${headers} -d '${body}'`;
}
