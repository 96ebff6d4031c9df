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
 * How far it is, or what became of it.
 */
status: WriteStatus,
/**
 * The version.
 */
version: string,
/**
 * The place that wins over what was written.
 */
overriddenMetadata?: OverriddenMetadata | null, };
