/** Settings of clients in the fake control plane: short texts with KEY_PLACEHOLDER. */
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';
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
    notes: ['Keep the key out of files that you commit.'],
  }));
}

function settings(model: string): string {
  return JSON.stringify({ address: ADDRESS, key: KEY_PLACEHOLDER, model }, null, 2);
}
