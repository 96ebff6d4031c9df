// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileSystemSandboxEntry } from "./FileSystemSandboxEntry";

/**
 * Permissions for files beyond the sandbox of a command.
 */
export type AdditionalFileSystemPermissions = {
/**
 * Access modes of paths.
 */
entries?: Array<FileSystemSandboxEntry> | null,
/**
 * Greatest depth to which a glob pattern is searched.
 */
globScanMaxDepth?: number | null,
/**
 * Paths that may be read.
 */
read?: Array<string> | null,
/**
 * Paths that may be written.
 */
write?: Array<string> | null, };
