// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Who started a command.
 */
export type CommandExecutionSource = "agent" | "userShell" | "unifiedExecStartup" | "unifiedExecInteraction";
