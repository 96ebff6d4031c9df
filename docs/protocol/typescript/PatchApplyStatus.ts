// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a change of files is.
 */
export type PatchApplyStatus = "inProgress" | "completed" | "failed" | "declined";
