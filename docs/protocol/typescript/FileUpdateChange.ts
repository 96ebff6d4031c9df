// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { PatchChangeKind } from "./PatchChangeKind";

/**
 * A change of one file.
 */
export type FileUpdateChange = {
/**
 * The text of a file that is new or goes; a unified diff of one that changes.
 */
diff: string,
/**
 * What happens to the file.
 */
kind: PatchChangeKind,
/**
 * The path.
 */
path: string, };
