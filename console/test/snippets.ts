/** Set-ups of clients in the fake control plane: two of the service's, with a place for the secret. */
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';

/** For a model. */
export function snippetsFor(model: string) {
  const snippet = ([client, title]: [string, string], path: string, content: string) => ({
    client,
    title,
    files: [{ path, language: 'sh', content }],
    verifyCommand: `curl -sS https://gateway.example/v1/models -H "Authorization: Bearer ${KEY_PLACEHOLDER}"`,
    notes: ['Keep the key out of files that you commit.'],
  });
  const curl = [
    'curl -sS https://gateway.example/v1/chat/completions \\',
    `  -H "Authorization: Bearer ${KEY_PLACEHOLDER}" \\`,
    `  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,
  ].join('\n');
  const settings = { ANTHROPIC_BASE_URL: 'https://gateway.example', ANTHROPIC_AUTH_TOKEN: KEY_PLACEHOLDER };
  return [
    snippet(['CURL', 'curl'], 'Chat completions', curl),
    snippet(
      ['CLAUDE_CODE', 'Claude Code'],
      '~/.claude/settings.json',
      JSON.stringify({ env: settings }, null, 2),
    ),
  ];
}
