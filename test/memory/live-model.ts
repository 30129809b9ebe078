/** A real model at an address that speaks chat-completions, which reads the dialogues of the evaluation. */
import type { SeenRequest } from './fake-data-plane.ts';

/** Address up to the version, e.g. `https://api.example.com/v1`, with the model and the key there. */
export interface LiveModel {
  url: string;
  key: string;
  model: string;
}

/** The model named in the environment; null without MEMORY_URL. */
export function liveModel(env: NodeJS.ProcessEnv): LiveModel | null {
  const { MEMORY_URL: url, MEMORY_KEY: key = '', MEMORY_MODEL: model = '' } = env;
  return url ? { url: url.replace(/\/$/, ''), key, model } : null;
}

/** The model's answer to the request that the product would send. Undefined if the model fails. */
export async function askLiveModel(live: LiveModel, { messages }: SeenRequest): Promise<string | undefined> {
  const response = await fetch(`${live.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${live.key}` },
    body: JSON.stringify({ model: live.model, temperature: 0, messages }),
  });
  if (!response.ok) return undefined;
  const body = (await response.json()) as { choices?: { message?: { content?: string } }[] };
  return body.choices?.[0]?.message?.content;
}
