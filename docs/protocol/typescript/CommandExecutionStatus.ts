// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a command is.
 */
export type CommandExecutionStatus = "inProgress" | "completed" | "failed" | "declined";
