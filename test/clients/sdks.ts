/** SDKs of other languages: how each is built at its pinned version, and what it must print. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PYTHON_PACKAGES, installOnce, installPythonPackages } from './install.ts';

const run = promisify(execFile);
/** Time to compile an SDK with its dependencies. */
const BUILD_MS = 1_200_000;
const RUN_MS = 60_000;
const OUTPUT_BYTES_MAX = 10_000_000;
const SOURCES = join(import.meta.dirname, 'sdks');

/** A program and its arguments. */
export interface Command {
  program: string;
  arguments: string[];
  env?: Record<string, string>;
}

/** The tools of one language. */
interface Language {
  name: string;
  /** Succeeds if the toolchain is there. */
  check: Command;
  /** Builds the program of `sdks/`, and returns its command without the SDK's own argument. */
  build(): Promise<Command>;
}

/** One SDK. */
export interface Sdk {
  name: string;
  version: string;
  language: Language;
  /** Selects the SDK in the program of its language. */
  argument: string;
}

const PYTHON: Language = {
  name: 'Python',
  check: { program: 'python3', arguments: ['-m', 'pip', '--version'] },
  build: async () => ({
    program: 'python3',
    arguments: [join(SOURCES, 'python', 'main.py')],
    env: { PYTHONPATH: await installPythonPackages() },
  }),
};
const GO: Language = {
  name: 'Go',
  check: { program: 'go', arguments: ['version'] },
  build: async () => {
    const folder = await built('go', { program: 'go', arguments: ['build', '-o', 'sdk', '.'] });
    return { program: join(folder, 'sdk'), arguments: [] };
  },
};
const RUST: Language = {
  name: 'Rust',
  check: { program: 'cargo', arguments: ['--version'] },
  build: async () => {
    const folder = await built('rust', { program: 'cargo', arguments: ['build', '--quiet', '--locked'] });
    return { program: join(folder, 'target', 'debug', 'sdk'), arguments: [] };
  },
};
const CLASSPATH = 'classpath';
const JAVA: Language = {
  name: 'Java',
  check: { program: 'mvn', arguments: ['--version'] },
  build: async () => {
    const goals = ['compile', 'dependency:build-classpath', `-Dmdep.outputFile=${CLASSPATH}`];
    const folder = await built('java', { program: 'mvn', arguments: ['-q', '-B', ...goals] });
    const libraries = readFileSync(join(folder, CLASSPATH), 'utf8').trim();
    const classes = `${join(folder, 'target', 'classes')}:${libraries}`;
    return { program: 'java', arguments: ['-cp', classes, 'Main'] };
  },
};

/** The pinned version of a Python package. */
function pinned(name: string): string {
  const found = PYTHON_PACKAGES.find((each) => each.startsWith(`${name}==`));
  return found?.split('==')[1] ?? '';
}

/** All SDKs. Their versions are those of the files in `sdks/`. */
export const SDKS: readonly Sdk[] = [
  { name: 'openai (chat)', version: pinned('openai'), language: PYTHON, argument: 'chat' },
  { name: 'openai (responses)', version: pinned('openai'), language: PYTHON, argument: 'responses' },
  { name: 'anthropic', version: pinned('anthropic'), language: PYTHON, argument: 'messages' },
  { name: 'google-genai', version: pinned('google-genai'), language: PYTHON, argument: 'genai' },
  { name: 'openai-go', version: '3.96.0', language: GO, argument: 'openai' },
  { name: 'anthropic-sdk-go', version: '1.84.0', language: GO, argument: 'anthropic' },
  { name: 'go-genai', version: '1.77.0', language: GO, argument: 'genai' },
  { name: 'anthropic-java', version: '3.13.0', language: JAVA, argument: '' },
  { name: 'async-openai', version: '0.43.0', language: RUST, argument: '' },
];

/** Copies the sources of a language and builds them once. Returns the folder. */
function built(language: string, { program, arguments: given }: Command): Promise<string> {
  const sources = join(SOURCES, language);
  const files = ['go.mod', 'main.go', 'Cargo.toml', 'src/main.rs', 'pom.xml', 'src/main/java/Main.java'];
  const hash = createHash('sha256');
  for (const file of files) hash.update(textOf(join(sources, file)));
  return installOnce(`sdk-${language}-${hash.digest('hex').slice(0, 12)}`, async (fresh) => {
    cpSync(sources, fresh, { recursive: true });
    await run(program, given, { cwd: fresh, timeout: BUILD_MS, maxBuffer: OUTPUT_BYTES_MAX });
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The command of a language, or why there is none. */
export async function prepare({ check, build, name }: Language): Promise<Command | { missing: string }> {
  try {
    await run(check.program, check.arguments);
  } catch {
    return { missing: `${name} is not installed here: "${check.program}" cannot be run` };
  }
  try {
    return await build();
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { missing: `the program for ${name} cannot be built: ${text.slice(-1_500)}` };
  }
}

/** Input for the program of an SDK. */
export interface Questions {
  url: string;
  key: string;
  model: string;
  prompt: string;
  answer: string;
  tool: string;
  toolPrompt: string;
}

/** Runs one SDK. Returns what is wrong with its output; undefined if it is as expected. */
export async function failureOfSdk(
  { argument }: Sdk,
  command: Command,
  { url, key, model, prompt, answer, tool, toolPrompt }: Questions,
): Promise<string | undefined> {
  const env = {
    ...{ SDK_URL: url, SDK_KEY: key, SDK_MODEL: model, SDK_PROMPT: prompt, SDK_TOOL: tool },
    SDK_TOOL_PROMPT: toolPrompt,
  };
  try {
    const options = { timeout: RUN_MS, env: { ...process.env, ...command.env, ...env } };
    const given = [...command.arguments, ...(argument ? [argument] : [])];
    const { stdout } = await run(command.program, given, options);
    const [whole, stream, call = '', ...rest] = stdout.trimEnd().split('\n');
    const isRight =
      whole === `whole ${answer}` && stream === `stream ${answer}` && call.startsWith(`tool ${tool} `);
    return isRight && rest.length === 0 ? undefined : `it printed:\n${stdout}`;
  } catch (error) {
    return error instanceof Error ? error.message.slice(-3_000) : String(error);
  }
}
