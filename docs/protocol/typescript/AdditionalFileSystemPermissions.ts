// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { FileSystemSandboxEntry } from "./FileSystemSandboxEntry";

/**
 * What a command may do with files beyond its sandbox.
 */
export type AdditionalFileSystemPermissions = {
/**
 * What may be done with which path.
 */
entries?: Array<FileSystemSandboxEntry> | null,
/**
 * How deep a pattern is looked for.
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
