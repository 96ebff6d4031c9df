// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookErrorInfo } from "./HookErrorInfo";
import type { HookMetadata } from "./HookMetadata";

/**
 * The hooks of one directory.
 */
export type HooksListEntry = {
/**
 * The working directory.
 */
cwd: string,
/**
 * Errors of reading.
 */
errors: Array<HookErrorInfo>,
/**
 * The hooks.
 */
hooks: Array<HookMetadata>,
/**
 * Warnings.
 */
warnings: Array<string>, };
