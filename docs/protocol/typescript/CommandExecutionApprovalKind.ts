// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What the approval is about.
 */
export type CommandExecutionApprovalKind = "command" | "writeStdin" | "humanCommand";
