// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { PatchChangeKind } from "./PatchChangeKind";

/**
 * A change of one file.
 */
export type FileUpdateChange = {
/**
 * Content of a file that is added or deleted, or a unified diff of a file that changes.
 */
diff: string,
/**
 * What happens to the file.
 */
kind: PatchChangeKind,
/**
 * Path of the file.
 */
path: string, };
