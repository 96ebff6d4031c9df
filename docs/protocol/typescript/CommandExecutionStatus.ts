// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a command.
 */
export type CommandExecutionStatus = "inProgress" | "completed" | "failed" | "declined";
