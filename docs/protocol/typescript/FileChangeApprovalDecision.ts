// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Decision about file changes.
 */
export type FileChangeApprovalDecision = "accept" | "acceptForSession" | "decline" | "cancel";
