// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";

/**
 * Result of `initialize`.
 */
export type InitializeResponse = {
/**
 * The server home.
 */
codexHome: AbsolutePath,
/**
 * `unix` or `windows`.
 */
platformFamily: string,
/**
 * Name of the operating system.
 */
platformOs: string,
/**
 * Name and version of the server, followed by the client. Clients parse the version.
 */
userAgent: string, };
