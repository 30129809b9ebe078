/** Client snippets: their texts, and the models that they name. */
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { accessOf } from './snippet.service.ts';
import { CLIENTS, snippetsOf } from './snippet.texts.ts';
import type { Client } from './snippet.texts.ts';

const ACCESS = {
  baseAddress: 'https://gateway.example',
  model: 'swift',
  codingModel: 'coder',
  smallModel: 'budget',
};

/** The files of one client as one text. */
function textOf(client: Client): string {
  const [snippet] = snippetsOf(ACCESS, [client]);
  return (snippet?.files ?? []).map(({ path, content }) => `--- ${path}\n${content}`).join('\n');
}

describe('snippetsOf', () => {
  it('returns a snippet for every client, with the address and a placeholder for the secret', () => {
    const snippets = snippetsOf(ACCESS);
    expect(snippets.map(({ client }) => client)).toEqual(CLIENTS);
    for (const { client, files, verifyCommand } of snippets) {
      const whole = files.map(({ content }) => content).join('\n');
      expect(whole, client).toContain(KEY_PLACEHOLDER);
      expect(whole, client).toContain('https://gateway.example');
      expect(verifyCommand).toContain('https://gateway.example/v1/models');
    }
  });

  it('adds a hint for host names below localhost', () => {
    const notesAt = (baseAddress: string): string => {
      const [snippet] = snippetsOf({ ...ACCESS, baseAddress }, ['OPENAI_NODE']);
      return (snippet?.notes ?? []).join('\n');
    };
    expect(notesAt('http://lyon.localhost:8080')).toContain('"127.0.0.1 lyon.localhost" to /etc/hosts');
    expect(notesAt('http://localhost:8080')).not.toContain('hosts');
    expect(notesAt('https://lyon.gateway.example')).not.toContain('hosts');
  });

  it('has the hints as data and in English', () => {
    const [snippet] = snippetsOf(ACCESS, ['CODEX']);
    expect(snippet?.hints).toEqual([
      { kind: 'TESTED', value: '0.169.0' },
      { kind: 'NAME_OF_VARIABLE', value: 'env_key' },
    ]);
    expect(snippet?.notes).toEqual([
      'Tested with 0.169.0.',
      'env_key is the name of a variable, not the key.',
    ]);
  });

  it('adds /v1 to the address for chat and responses clients only', () => {
    const withVersion = ['OPENAI_PYTHON', 'OPENAI_NODE', 'AI_SDK', 'CODEX', 'OPENCODE'] as const;
    const without = [
      'ANTHROPIC_PYTHON',
      'ANTHROPIC_NODE',
      'GOOGLE_GENAI',
      'CLAUDE_CODE',
      'GEMINI_CLI',
    ] as const;
    for (const client of withVersion) expect(textOf(client)).toContain('https://gateway.example/v1');
    for (const client of without) expect(textOf(client)).not.toMatch(/gateway\.example\/v1/);
  });
});

describe('the snippet for', () => {
  it('Claude Code is the one of docs/clients.md', () => {
    expect(textOf('CLAUDE_CODE')).toMatchInlineSnapshot(`
      "--- ~/.claude/settings.json
      {
        "env": {
          "ANTHROPIC_BASE_URL": "https://gateway.example",
          "ANTHROPIC_AUTH_TOKEN": "YOUR_API_KEY",
          "ANTHROPIC_API_KEY": "",
          "ANTHROPIC_MODEL": "coder",
          "ANTHROPIC_DEFAULT_HAIKU_MODEL": "budget"
        }
      }
      --- Shell
      claude"
    `);
  });

  it('Codex is the one of docs/clients.md', () => {
    expect(textOf('CODEX')).toMatchInlineSnapshot(`
      "--- ~/.codex/config.toml
      model = "coder"
      model_provider = "gateway"

      [model_providers.gateway]
      name = "gateway"
      base_url = "https://gateway.example/v1"
      env_key = "GATEWAY_KEY"
      wire_api = "responses"
      --- Shell
      export GATEWAY_KEY=YOUR_API_KEY
      codex"
    `);
  });
});

describe('the snippet for', () => {
  it('Gemini CLI is the one of docs/clients.md', () => {
    expect(textOf('GEMINI_CLI')).toMatchInlineSnapshot(`
      "--- ~/.gemini/.env
      GEMINI_API_KEY=YOUR_API_KEY
      GOOGLE_GEMINI_BASE_URL=https://gateway.example
      --- ~/.gemini/settings.json
      {
        "security": {
          "auth": {
            "selectedType": "gemini-api-key"
          }
        }
      }
      --- Shell
      gemini -m coder"
    `);
  });

  it('opencode defines a provider', () => {
    expect(textOf('OPENCODE')).toMatchInlineSnapshot(`
      "--- ~/.config/opencode/opencode.json
      {
        "provider": {
          "gateway": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Gateway",
            "options": {
              "baseURL": "https://gateway.example/v1",
              "apiKey": "{env:GATEWAY_KEY}"
            },
            "models": {
              "coder": {},
              "budget": {}
            }
          }
        },
        "model": "gateway/coder",
        "small_model": "gateway/budget"
      }
      --- Shell
      export GATEWAY_KEY=YOUR_API_KEY
      opencode"
    `);
  });
});

describe('the snippet for', () => {
  it('the Python SDKs is a complete script', () => {
    expect(textOf('OPENAI_PYTHON')).toMatchInlineSnapshot(`
      "--- main.py
      from openai import OpenAI

      client = OpenAI(base_url="https://gateway.example/v1", api_key="YOUR_API_KEY")
      reply = client.chat.completions.create(
          model="swift", messages=[{"role": "user", "content": "Hello"}]
      )
      print(reply.choices[0].message.content)"
    `);
    expect(textOf('ANTHROPIC_PYTHON')).toMatchInlineSnapshot(`
      "--- main.py
      from anthropic import Anthropic

      client = Anthropic(base_url="https://gateway.example", api_key="YOUR_API_KEY")
      reply = client.messages.create(
          model="swift", max_tokens=1024, messages=[{"role": "user", "content": "Hello"}]
      )
      print(reply.content[0].text)"
    `);
  });
});

describe('accessOf', () => {
  const offer = (name: string, price: bigint, tier: 'agentic_coding' | 'budget_a') => ({ name, price, tier });

  it('chooses the cheapest model for scripts, and the most expensive coding model for agents', () => {
    const models = [
      offer('coder', 250_000n, 'agentic_coding'),
      offer('coder-max', 300_000n, 'agentic_coding'),
      offer('budget', 30_000n, 'budget_a'),
    ];
    expect(accessOf('https://x', models)).toEqual({
      baseAddress: 'https://x',
      model: 'budget',
      codingModel: 'coder-max',
      smallModel: 'budget',
    });
  });

  it('chooses the cheapest model without a coding model, and a placeholder without models', () => {
    expect(accessOf('https://x', [offer('budget', 30_000n, 'budget_a')]).codingModel).toBe('budget');
    expect(accessOf('https://x', []).model).toBe('MODEL');
  });
});

describe('clientSnippets in the API', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ env: { PUBLIC_URL: 'https://api.example.com' } });
  });
  afterAll(() => test.close());

  it('is public for a model, and names for a key only models that the key may use', async () => {
    const ask = `query ($name: String!) { catalogModel(name: $name) { id
      clientSnippets(clients: [OPENAI_NODE]) { client files { content } } } }`;
    const model = await test.browser().send(ask, { name: 'flagship' });
    const [first] = pick<{ files: { content: string }[] }[]>(model, 'catalogModel', 'clientSnippets');
    const id = pick<string>(model, 'catalogModel', 'id');
    expect(first?.files[0]?.content).toContain("model: 'flagship'");
    expect(first?.files[0]?.content).toContain("baseURL: 'https://api.example.com/v1'");
    const owner = await test.user('snippets@example.com');
    const input = { name: 'x', group: 'DEFAULT', idempotencyKey: 'x', allowedModelIds: [id] };
    const made = await owner.send(
      `mutation ($input: ApiKeyCreateInput!) { apiKeyCreate(input: $input) {
        apiKey { clientSnippets { client files { content } } } userErrors { code } } }`,
      { input },
    );
    const text = JSON.stringify(made.data);
    expect(text).toContain('flagship');
    expect(text).not.toContain('budget');
  });
});
