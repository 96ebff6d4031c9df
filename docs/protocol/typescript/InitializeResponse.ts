// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Result of `initialize`.
 */
export type InitializeResponse = {
/**
 * The directory of the server's files.
 */
codexHome: AbsolutePath,
/**
 * `unix` or `windows`.
 */
platformFamily: string,
/**
 * The operating system.
 */
platformOs: string,
/**
 * The server by name and version, then the client; clients read the version from it.
 */
userAgent: string, };
