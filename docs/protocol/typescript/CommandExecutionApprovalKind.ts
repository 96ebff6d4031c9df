// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What is to be approved.
 */
export type CommandExecutionApprovalKind = "command" | "writeStdin" | "humanCommand";
