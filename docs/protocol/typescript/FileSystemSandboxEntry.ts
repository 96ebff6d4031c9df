// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileSystemAccessMode } from "./FileSystemAccessMode";
import type { FileSystemPath } from "./FileSystemPath";

/**
 * The access mode of a path.
 */
export type FileSystemSandboxEntry = {
/**
 * The access mode.
 */
access: FileSystemAccessMode,
/**
 * The path that the mode applies to.
 */
path: FileSystemPath, };
