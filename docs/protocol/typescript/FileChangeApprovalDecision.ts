// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The answer to a request to change files.
 */
export type FileChangeApprovalDecision = "accept" | "acceptForSession" | "decline" | "cancel";
