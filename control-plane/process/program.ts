/** Runs a command of an operator from the command line. */

/** Runs with the arguments after the program's name, and returns the exit code. */
type Command = (parameters: readonly string[], print: (line: string) => void) => Promise<number>;

/** Runs the command if `file` is the program of this process, and sets the exit code of the process. */
export async function runProgram(file: string, command: Command): Promise<void> {
  if (!process.argv[1]?.endsWith(file)) return;
  process.exitCode = await command(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
}
