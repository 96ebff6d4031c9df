// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileUpdateChange } from "./FileUpdateChange";
import type { PatchApplyStatus } from "./PatchApplyStatus";

/**
 * A change of files by the model.
 */
export type FileChangeItem = {
/**
 * Id of the item.
 */
id: string,
/**
 * The changes, by file.
 */
changes: Array<FileUpdateChange>,
/**
 * The status.
 */
status: PatchApplyStatus,
/**
 * Start time in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * End time in Unix milliseconds.
 */
completedAtMs?: number | null, };
