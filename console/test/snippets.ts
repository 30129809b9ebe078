/** Settings of clients in the fake control plane: short texts with KEY_PLACEHOLDER. */
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';
import { en } from '../messages/en.ts';
import { CLIENT_NAMES } from '../pages/connect/clients.ts';

const ADDRESS = 'https://gateway.example';
const CHECK = `curl -sS ${ADDRESS}/v1/models -H "Authorization: Bearer ${KEY_PLACEHOLDER}"`;

/** The files of clients whose files a test checks. Every other client has one generated file. */
const FILES: Record<string, [path: string, content: string][]> = {
  CODEX: [
    ['~/.codex/config.toml', `model_provider = "gateway"\nbase_url = "${ADDRESS}/v1"`],
    ['Shell', `export GATEWAY_KEY=${KEY_PLACEHOLDER}\ncodex`],
  ],
};

/** The settings of every client for a model. */
export function snippetsFor(model: string) {
  return Object.entries(CLIENT_NAMES).map(([client, title]) => ({
    client,
    title,
    files: (FILES[client] ?? [[`${title} settings`, settings(model)]]).map(([path, content]) => ({
      path,
      language: 'sh',
      content,
    })),
    verifyCommand: CHECK,
    hints: hintsOf(client),
  }));
}

function settings(model: string): string {
  return JSON.stringify({ address: ADDRESS, key: KEY_PLACEHOLDER, model }, null, 2);
}

/** A hint of each kind for one client, and a command for all others. */
function hintsOf(client: string) {
  const kinds = client === 'CLAUDE_CODE' ? Object.keys(en.connect.hints) : [];
  return [...kinds.map((kind) => ({ kind, value: 'name' })), { kind: 'INSTALL', value: 'npm install name' }];
}
