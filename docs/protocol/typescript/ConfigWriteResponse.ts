// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { OverriddenMetadata } from "./OverriddenMetadata";
import type { WriteStatus } from "./WriteStatus";

/**
 * Result of `config/value/write` and `config/batchWrite`.
 */
export type ConfigWriteResponse = {
/**
 * The file that was written.
 */
filePath: AbsolutePath,
/**
 * Whether the written setting is effective.
 */
status: WriteStatus,
/**
 * Version of the file after the write.
 */
version: string,
/**
 * The layer that overrides the written setting. `null` if none does.
 */
overriddenMetadata?: OverriddenMetadata | null, };
