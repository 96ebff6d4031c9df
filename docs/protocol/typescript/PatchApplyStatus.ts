// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Status of a change of files.
 */
export type PatchApplyStatus = "inProgress" | "completed" | "failed" | "declined";
