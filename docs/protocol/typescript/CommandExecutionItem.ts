// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CommandAction } from "./CommandAction";
import type { CommandExecutionSource } from "./CommandExecutionSource";
import type { CommandExecutionStatus } from "./CommandExecutionStatus";

/**
 * A command of the model or the user.
 */
export type CommandExecutionItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The command as a shell command line.
 */
command: string,
/**
 * What the parts of the command do, as far as the server can tell.
 */
commandActions: Array<CommandAction>,
/**
 * The working directory.
 */
cwd: string,
/**
 * The status.
 */
status: CommandExecutionStatus,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * Output of the command, truncated to a limit. `null` if there is none.
 */
aggregatedOutput?: string | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null,
/**
 * Duration in milliseconds.
 */
durationMs?: number | null,
/**
 * Exit code. `null` while the command runs.
 */
exitCode?: number | null,
/**
 * Id of the plugin that it belongs to.
 */
pluginId?: string | null,
/**
 * Id that the server gave to the process, as long as input can be written to it.
 */
processId?: string | null,
/**
 * Path of the script that the command runs.
 */
scriptPath?: string | null,
/**
 * Who started the command.
 */
source?: CommandExecutionSource | null, };
