// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandAction } from "./CommandAction";
import type { CommandExecutionSource } from "./CommandExecutionSource";
import type { CommandExecutionStatus } from "./CommandExecutionStatus";

/**
 * A command that ran, or runs, for the model or the user.
 */
export type CommandExecutionItem = {
/**
 * The id.
 */
id: string,
/**
 * The command, as a line for a shell.
 */
command: string,
/**
 * What the parts of the command do, as far as it can be told.
 */
commandActions: Array<CommandAction>,
/**
 * The working directory.
 */
cwd: string,
/**
 * How far it is, or what became of it.
 */
status: CommandExecutionStatus,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * What the command printed, bounded; `null` if it printed nothing.
 */
aggregatedOutput?: string | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * How long it took, in milliseconds.
 */
durationMs?: number | null,
/**
 * The exit code; `null` while there is none.
 */
exitCode?: number | null,
/**
 * The plugin that it comes with.
 */
pluginId?: string | null,
/**
 * The server's id of the process, while it can be written to.
 */
processId?: string | null,
/**
 * The script that the command runs.
 */
scriptPath?: string | null,
/**
 * Who started the command.
 */
source?: CommandExecutionSource | null, };
