// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileUpdateChange } from "./FileUpdateChange";
import type { PatchApplyStatus } from "./PatchApplyStatus";

/**
 * A change of files by the model.
 */
export type FileChangeItem = {
/**
 * The id.
 */
id: string,
/**
 * The changes, file by file.
 */
changes: Array<FileUpdateChange>,
/**
 * How far it is, or what became of it.
 */
status: PatchApplyStatus,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
