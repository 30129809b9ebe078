/** Reads the parameters of a call, which name nested members in brackets: `metadata[topup_id]=top_1`. */
import { invalid } from './errors.ts';

/** The members of a parameter, such as `metadata`; empty without it. */
export function membersOf(form: URLSearchParams, name: string): Record<string, string> {
  const members: Record<string, string> = {};
  for (const [key, value] of form) {
    const inner = key.startsWith(`${name}[`) && key.endsWith(']') ? key.slice(name.length + 1, -1) : '';
    if (inner && !/[[\]]/.test(inner)) members[inner] = value;
  }
  return members;
}

/** The paths to expand, without the `data.` that paths of a list begin with. */
export function expandOf(form: URLSearchParams): string[] {
  return Object.values(membersOf(form, 'expand')).map((path) => path.replace(/^data\./, ''));
}

/** A parameter that must be there. Throws Refusal. */
export function required(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value) return value;
  throw invalid(name, `Missing required param: ${name}.`, 'parameter_missing');
}

/** A number of cents above zero. Throws Refusal. */
export function centsOf(form: URLSearchParams, name: string): number {
  const text = required(form, name);
  const cents = Number(text);
  if (/^\d{1,8}$/.test(text) && cents > 0) return cents;
  throw invalid(name, `Invalid positive integer: ${name}.`, 'parameter_invalid_integer');
}

/** A web address. Throws Refusal. */
export function webAddressOf(form: URLSearchParams, name: string): string {
  const text = required(form, name);
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw invalid(name, `Not a valid URL: ${name}.`, 'url_invalid');
}
