// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileSystemAccessMode } from "./FileSystemAccessMode";
import type { FileSystemPath } from "./FileSystemPath";

/**
 * What may be done with which path.
 */
export type FileSystemSandboxEntry = {
/**
 * What may be done with it.
 */
access: FileSystemAccessMode,
/**
 * The path.
 */
path: FileSystemPath, };
